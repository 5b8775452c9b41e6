"""Where pages come from: a folder, a file, or a commit of a git repository."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pgrag.errors import SourceError
from pgrag.ingest.git import GitTree
from pgrag.ingest.globs import matcher

SUFFIXES = (".md", ".markdown", ".mdx")
_SKIPPED_FOLDERS = frozenset({"node_modules"})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a source. `key` is its path below the source, with "/"."""

    key: str
    _load: Callable[[], bytes] = field(repr=False)

    def read(self) -> bytes:
        """Return the file's bytes. Raises SourceError if it cannot be read."""
        try:
            return self._load()
        except OSError as error:
            raise SourceError(f"{self.key}: cannot be read: {error.strerror}.") from error


@dataclass(slots=True)
class Source:
    """The Markdown files of a source, listed but not read.

    `location` says in one line where they are, `revision` is the commit they are read from (None
    for files on disk), `warnings` name what was left out. With `arguments`, `discover` lists the
    same files again, wherever it is called (None: it cannot). Use it as a context manager, or
    close it, when the files are from a commit: they are read by a process.
    """

    location: str
    revision: str | None = None
    warnings: tuple[str, ...] = ()
    arguments: dict[str, Any] | None = None
    _files: tuple[SourceFile, ...] = ()
    _tree: GitTree | None = None

    def __len__(self) -> int:
        return len(self._files)

    def files(self) -> Iterator[SourceFile]:
        """Yield the files in the order of their keys."""
        yield from self._files

    def close(self) -> None:
        """End the process that reads from a commit; without one, do nothing."""
        if self._tree is not None:
            self._tree.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def discover(
    source: str,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    subfolder: str | None = None,
    ref: str | None = None,
) -> Source:
    """List the Markdown files (`.md`, `.markdown`, `.mdx`) of a folder, or take a single file.

    `include` and `exclude` are globs over keys (see `globs.matcher`). With `subfolder` only that
    part of the source is taken, and keys begin below it. With `ref` (a branch, tag or commit)
    the files are read from that commit of the git repository that holds the folder, whatever is
    checked out; nothing is fetched. Hidden folders and `node_modules` are skipped, and so is a
    symbolic link that leaves the folder, with a warning; no folder is visited twice.

    Raises SourceError if the source is missing, cannot be read, or holds no Markdown.
    """
    root = Path(source)
    try:
        root = root.expanduser()
        is_there = root.exists()
    except OSError as error:
        raise SourceError(f"{source}: cannot be read: {error.strerror}.") from error
    except RuntimeError:  # nobody knows whose home it begins with
        is_there = False
    if not is_there:
        raise SourceError(
            f"{source}: no such file or folder.",
            hint="A source is a folder with Markdown, a file, or a git repository on this machine.",
        )
    is_wanted = matcher(include, exclude)
    arguments: dict[str, Any] = {
        "source": _key(os.path.abspath(root)),
        "include": [*include],
        "exclude": [*exclude],
        "subfolder": subfolder,
        "ref": None,
    }
    if ref is not None:
        found_there = _from_commit(root, ref, subfolder, is_wanted)
        found_there.arguments = arguments | {"ref": found_there.revision}
        return found_there
    if subfolder:
        root /= subfolder.strip("/")
        if not root.is_dir():
            raise SourceError(f"{source}: has no folder {subfolder!r}.")
    if not root.is_dir():
        file = SourceFile(_key(root.name), root.read_bytes)
        return Source(str(root), arguments=arguments, _files=(file,))
    warnings: list[str] = []
    try:
        found = {_key(name): path for name, path in _walk(root.resolve(), warnings)}
    except OSError as error:
        raise SourceError(f"{error.filename}: cannot be read: {error.strerror}.") from error
    keys = sorted(key for key in found if is_wanted(key))
    _require(keys, str(root), len(found))
    files = tuple(SourceFile(key, found[key].read_bytes) for key in keys)
    return Source(str(root), warnings=tuple(warnings), arguments=arguments, _files=files)


def _from_commit(
    root: Path, ref: str, subfolder: str | None, is_wanted: Callable[[str], bool]
) -> Source:
    tree = GitTree(root, ref, subfolder)
    found = {
        _key(name): blob
        for name, blob in tree.blobs()
        if is_markdown(name) and not _is_skipped(name.split("/")[:-1])
    }
    keys = sorted(key for key in found if is_wanted(key))
    _require(keys, tree.location, len(found))

    def loader(blob: str) -> Callable[[], bytes]:
        return lambda: tree.read(blob)

    files = tuple(SourceFile(key, loader(found[key])) for key in keys)
    return Source(tree.location, tree.commit, _files=files, _tree=tree)


def is_markdown(name: str) -> bool:
    """Tell whether a file's name ends like Markdown."""
    return name.lower().endswith(SUFFIXES)


def _require(keys: Sequence[str], location: str, found: int) -> None:
    if keys:
        return
    if found:
        raise SourceError(f"{location}: include and exclude leave none of its {found} files.")
    raise SourceError(f"{location}: no Markdown in it (looked for {', '.join(SUFFIXES)}).")


def _walk(root: Path, warnings: list[str]) -> Iterator[tuple[str, Path]]:
    """Yield name and path of each Markdown file below a folder, links last.

    A linked folder inside the source is read where it really is, so a link needs no following
    and cannot loop; a link to a file counts only if that file is not itself in the list.
    """
    links: list[tuple[str, Path]] = []
    seen: set[Path] = set()
    folders = [root]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                path = Path(entry.path)
                name = path.relative_to(root).as_posix()
                if entry.is_symlink():
                    links.append((name, path))
                elif entry.is_dir(follow_symlinks=False):
                    if not _is_skipped([entry.name]):
                        folders.append(path)
                elif entry.is_file(follow_symlinks=False) and is_markdown(entry.name):
                    seen.add(path)
                    yield name, path
    for name, path in sorted(links):
        try:
            target = path.resolve(strict=True)
        except (OSError, RuntimeError):
            if is_markdown(name):
                warnings.append(f"{name}: is a symbolic link that leads nowhere; skipped")
            continue
        if not target.is_relative_to(root):
            if is_markdown(name) or target.is_dir():
                warnings.append(f"{name}: is a symbolic link out of the folder; skipped")
        elif is_markdown(name) and target.is_file() and target not in seen:
            seen.add(target)
            yield name, path


def _is_skipped(folders: Sequence[str]) -> bool:
    return any(name.startswith(".") or name in _SKIPPED_FOLDERS for name in folders)


def _key(name: str) -> str:
    """Make text that a database can hold even of a name whose bytes are no UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
