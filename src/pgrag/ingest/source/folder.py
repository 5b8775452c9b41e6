"""The files of a folder that may be pages, on disk or in a tree, without those that are ignored."""

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from pgrag.ingest.source.documentation import (
    UNREAD,
    is_certain,
    is_known,
    is_skipped,
    is_unread,
)
from pgrag.ingest.source.ignored import NAMES, IgnoreRules, rules_above
from pgrag.ingest.source.source import Skips, read_file
from pgrag.ingest.values import Dates

#: Where a file is read: a path, or the name of a file in a tree.
Handle = TypeVar("Handle", Path, str)


class Tree(Protocol):
    """Files that are not on the disk: those of a commit or an archive. `prefix` is the path of the
    source in the tree, with a final "/"; empty at its top. `skips` is what cannot be read.
    """

    prefix: str
    location: str
    skips: Skips

    def blobs(self) -> Iterator[tuple[str, str]]:
        """Yield (path below the source, handle) of each file of the source."""

    def names(self) -> list[str]:
        """Return the path of every file of the tree."""

    def read(self, handle: str, size: int = -1, /) -> bytes:
        """Return the content of a file, or its first `size` bytes. Raises SourceError."""

    def content(self, path: str) -> bytes | None:
        """Return the content of a file by its path in the tree, or None."""

    def digest(self, handle: str, /) -> str | None:
        """Return the digest of a file if it is known without reading; see `digest_of`."""

    def dates(self, handle: str, /) -> Dates:
        """Return the dates that the time of a file gives."""

    def close(self) -> None:
        """Give back what the tree holds."""


@dataclass(slots=True)
class Listing(Generic[Handle]):
    """The files of a folder by name, the number of ignored ones, and what was skipped and why."""

    files: list[tuple[str, Handle]] = field(default_factory=list)
    ignored: int = 0
    warnings: list[str] = field(default_factory=list)
    skips: Skips = field(default_factory=Skips)


def list_tree(tree: Tree, *, include_ignored: bool) -> Listing[str]:
    """List the files of a tree; its own ignore files count, not those on disk."""
    listing: Listing[str] = Listing(skips=tree.skips)
    blobs = [(name, blob) for name, blob in tree.blobs() if not is_skipped(name.split("/")[:-1])]
    rules, prefix = IgnoreRules(), ""
    if not include_ignored:
        rules, prefix = rules_above(tree.prefix.rstrip("/"), tree.content)
        for name, blob in blobs:
            if name.rpartition("/")[2] in NAMES:
                rules.add(_joined(prefix, name), tree.read(blob))
    for name, blob in blobs:
        if is_known(name) or is_unread(name):
            if rules.ignores(_joined(prefix, name)):
                listing.ignored += is_certain(name)
            elif is_unread(name):
                listing.skips.add(name, *UNREAD)
            else:
                listing.files.append((name, blob))
    return listing


def list_folder(root: Path, top: Path, *, include_ignored: bool) -> Listing[Path]:
    """List the files below a folder, symbolic links last, without those that ignore files name,
    from the repository around `top` downwards. Raises OSError.
    """
    listing: Listing[Path] = Listing()
    walk = _Walk(root, listing, reads_rules=not include_ignored)
    if not include_ignored:
        top = next((each for each in (top, *top.parents) if os.path.exists(each / ".git")), top)
        below = "" if top == root else root.relative_to(top).as_posix()
        walk.rules, walk.prefix = rules_above(below, lambda path: walk.content(top / path))
    folders = [("", os.fspath(root))]
    while folders:
        folders += walk.enter(*folders.pop())
    listing.files.extend(_followed(sorted(walk.links), root, listing))
    return listing


@dataclass(slots=True)
class _Walk:
    """A walk through the folders below `root`, whose path in the rules is `prefix`."""

    root: Path
    listing: Listing[Path]
    reads_rules: bool
    rules: IgnoreRules = field(default_factory=IgnoreRules)
    prefix: str = ""
    links: list[tuple[str, Path]] = field(default_factory=list)

    def enter(self, folder: str, path: str) -> Iterator[tuple[str, str]]:
        """List the files of a folder; yield the folders, by name and path, that are not ignored."""
        with os.scandir(path) as entries:
            here = sorted(entries, key=lambda entry: entry.name not in NAMES)
        for entry in here:
            name = _joined(folder, entry.name)
            if self.reads_rules and entry.name in NAMES:
                if (content := self.content(Path(entry.path))) is not None:
                    self.rules.add(_joined(self.prefix, name), content)
            elif entry.is_dir(follow_symlinks=False):
                if is_skipped([entry.name]):
                    continue
                if self.rules.ignores_folder(_joined(self.prefix, name)):
                    self.listing.ignored += _count_certain(entry.path)
                else:
                    yield name, entry.path
            elif entry.is_symlink() or is_known(entry.name) or is_unread(entry.name):
                self._add(name, entry)

    def _add(self, name: str, entry: os.DirEntry[str]) -> None:
        """List a file that may be a page, or say why it is none."""
        if self.rules.ignores(_joined(self.prefix, name)):
            self.listing.ignored += is_certain(name)
        elif entry.is_symlink():
            self.links.append((name, Path(entry.path)))
        elif is_unread(name):
            self.listing.skips.add(name, *UNREAD)
        elif entry.is_file():
            self.listing.files.append((name, Path(entry.path)))
        else:
            self.listing.warnings.append(f"{name}: is not a regular file; skipped")

    def content(self, path: Path) -> bytes | None:
        """Return the content of an ignore file; None if there is none, or with a warning."""
        try:
            return read_file(path)
        except OSError as error:
            # As in git, a symbolic link is not an ignore file.
            if error.errno in {errno.ENOENT, errno.ELOOP, errno.EINVAL}:
                return None
            name = os.path.relpath(path, self.root)
            self.listing.warnings.append(f"{name}: cannot be read: {error.strerror}; not followed")
            return None


def _followed(
    links: Sequence[tuple[str, Path]], root: Path, listing: Listing[Path]
) -> Iterator[tuple[str, Path]]:
    """Yield the targets of links to files that are not listed; warn of those that lead away."""
    seen = {path for _, path in listing.files}
    for name, path in links:
        try:
            target = path.resolve(strict=True)
        except (OSError, RuntimeError):
            if is_known(name):
                listing.warnings.append(f"{name}: is a symbolic link that leads nowhere; skipped")
            continue
        if not target.is_relative_to(root):
            if is_known(name) or target.is_dir():
                listing.warnings.append(f"{name}: is a symbolic link out of the folder; skipped")
        elif is_known(name) and target.is_file():
            # A file with another suffix may not be a page under its own name.
            if target not in seen or target.suffix != path.suffix:
                yield name, target
            seen.add(target)


def _count_certain(folder: str) -> int:
    count = 0
    for _, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not is_skipped([name])]
        count += sum(map(is_certain, files))
    return count


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}/{name}" if prefix else name
