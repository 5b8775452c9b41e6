"""Sources of pages: a folder, a file, or a commit of a git repository."""

import os
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Self

from pgrag.errors import SourceError
from pgrag.ingest.globs import matcher
from pgrag.ingest.source.file import read_file
from pgrag.ingest.source.folder import SUFFIXES, Listing, list_commit, list_folder
from pgrag.ingest.source.generators import Generator, find_generator
from pgrag.ingest.source.git import GitTree
from pgrag.settings import masked_url


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a source. `key` is its path below the source, with "/"."""

    key: str
    _load: Callable[[int], bytes] = field(repr=False)

    def read(self, limit: int | None = None) -> bytes:
        """Return the file's bytes.

        Raises SourceError if it cannot be read, or is larger than `limit`.
        """
        try:
            data = self._load(-1 if limit is None else limit + 1)
        except OSError as error:
            raise SourceError(f"{self.key}: cannot be read: {error.strerror}.") from error
        if limit is not None and len(data) > limit:
            raise SourceError(
                f"{self.key}: is larger than {limit:,} bytes.",
                hint="Split it, or raise PGRAG_MAX_PAGE_BYTES.",
            )
        return data


@dataclass(slots=True)
class Source:
    """The Markdown files of a source, listed but not read.

    `location` is a one-line description, `revision` the commit (None for files on disk),
    `warnings` name skipped files, `ignored` is the number of Markdown files that `.gitignore` and
    `.ignore` files leave out. Called with `arguments`, `discover` lists the same files again,
    from any working directory; None if that is impossible. A source of a commit reads through a
    process: use it as a context manager, or close it.
    """

    location: str
    revision: str | None = None
    warnings: tuple[str, ...] = ()
    ignored: int = 0
    arguments: dict[str, Any] | None = None
    _files: tuple[SourceFile, ...] = ()
    _tree: GitTree | None = None
    _folder: Path | None = None

    def __len__(self) -> int:
        return len(self._files)

    def files(self) -> Iterator[SourceFile]:
        """Yield the files in key order."""
        yield from self._files

    def generator(self) -> Generator | None:
        """Return the site generator that publishes the source, if its configuration is near.

        Searched are the source with two levels below it, then the folders above it: in a git
        repository up to its top, each with one level below it, elsewhere two folders up.
        """
        if self._tree is not None:
            return _generator_of_commit(self._tree)
        return None if self._folder is None else _generator_of_folder(self._folder)

    def close(self) -> None:
        """End the process that reads from a commit, if there is one."""
        if self._tree is not None:
            self._tree.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def discover(
    source: str,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    subfolder: str | None = None,
    ref: str | None = None,
    include_ignored: bool = False,
) -> Source:
    """List the Markdown files (`.md`, `.markdown`, `.mdx`) of a folder, or take a single file.

    `include` and `exclude` are globs over keys (see `globs.matcher`). `subfolder` restricts the
    source to that folder, and keys are relative to it. With `ref` (a branch, tag or commit) the
    files are read from that commit of the git repository around the folder, whatever is checked
    out; nothing is fetched. Hidden folders and `node_modules` are skipped, and, unless
    `include_ignored`, what `.gitignore` and `.ignore` files name, those of the repository around
    the folder included; so are symbolic links that leave the folder, with a warning. No folder is
    visited twice.

    Raises SourceError if the source is missing, cannot be read, or contains no Markdown.
    """
    root = Path(source)
    try:
        root = root.expanduser()
        is_there = root.exists()
    except OSError as error:
        raise SourceError(f"{source}: cannot be read: {error.strerror}.") from error
    except RuntimeError:  # "~name" of an unknown user
        is_there = False
    if not is_there:
        raise SourceError(
            f"{named_source(source)}: no such file or folder.",
            hint="A source is a folder with Markdown, a file, or a git repository on this machine.",
        )
    is_wanted = matcher(include, exclude)
    tree = None if ref is None else GitTree(root, ref, subfolder)
    arguments: dict[str, Any] = {
        "source": _key(os.path.abspath(root)),
        "include": [*include],
        "exclude": [*exclude],
        "subfolder": subfolder,
        "ref": tree and tree.commit,
        "include_ignored": include_ignored,
    }
    listing: Listing[Any]
    folder = root
    if tree is not None:
        location = tree.location
        listing = list_commit(tree, include_ignored=include_ignored)
        files = [SourceFile(_key(name), partial(tree.read, blob)) for name, blob in listing.files]
    else:
        folder /= (subfolder or "").strip("/")
        if subfolder and not folder.is_dir():
            raise SourceError(f"{source}: has no folder {subfolder!r}.")
        location = str(folder)
        if not folder.is_dir():
            if not root.is_file():
                raise SourceError(f"{source}: is neither a folder nor a regular file.")
            file = SourceFile(_key(root.name), partial(read_file, root.resolve()))
            folder = Path(os.path.abspath(root)).parent
            return Source(location, arguments=arguments, _files=(file,), _folder=folder)
        try:
            listing = list_folder(folder.resolve(), root.resolve(), include_ignored=include_ignored)
        except OSError as error:
            raise SourceError(f"{error.filename}: cannot be read: {error.strerror}.") from error
        files = [SourceFile(_key(name), partial(read_file, path)) for name, path in listing.files]
    chosen = {file.key: file for file in reversed(files) if is_wanted(file.key)}
    listing.warnings += _ambiguities([name for name, _ in listing.files], chosen)
    listed = Source(
        location,
        arguments["ref"],
        tuple(listing.warnings),
        listing.ignored,
        arguments,
        _files=tuple(chosen[key] for key in sorted(chosen)),
        _tree=tree,
        _folder=Path(os.path.abspath(folder)),
    )
    if chosen:
        return listed
    listed.close()
    if files:
        raise SourceError(f"{location}: include and exclude leave none of its {len(files)} files.")
    if listing.ignored:
        raise SourceError(
            f"{location}: .gitignore and .ignore leave out all {listing.ignored} of its files.",
            hint="To read them all the same: --include-ignored.",
        )
    raise SourceError(f"{location}: no Markdown in it (looked for {', '.join(SUFFIXES)}).")


def named_source(source: str) -> str:
    """Return how errors name a source: it may be the address of a repository, with a password."""
    return masked_url(source) if ":/" in source else source


def _ambiguities(names: Sequence[str], keys: Container[str]) -> Iterator[str]:
    """Yield a warning for each file whose name gives the key of another; the first is read."""
    first: dict[str, str] = {}
    for name in names:
        if (other := first.setdefault(_key(name), name)) != name and _key(name) in keys:
            yield (
                f"{_key(name)}: stands for two files, {os.fsencode(other)!r} and"
                f" {os.fsencode(name)!r}; the second is skipped"
            )


def _generator_of_commit(tree: GitTree) -> Generator | None:
    listings: dict[PurePath, dict[str, bool]] = {}
    for name in tree.names():
        path, is_folder = PurePosixPath(name), False
        while path.name and path.name not in listings.setdefault(path.parent, {}):
            listings[path.parent][path.name] = is_folder
            path, is_folder = path.parent, True
    start = PurePosixPath(tree.prefix)
    folders = [(start, 2), *((parent, 1) for parent in start.parents)]
    return find_generator(
        folders,
        lambda path: listings.get(path, {}),
        lambda path: (tree.content(str(path)) or b"").decode("utf-8", "replace"),
    )


def _generator_of_folder(folder: Path) -> Generator | None:
    above = list(folder.parents)
    tops = [up for up, path in enumerate((folder, *above)) if (path / ".git").exists()]
    repository = [(path, 1) for path in above[: tops[0]]] if tops else []
    return find_generator(
        [(folder, 2), *(repository if tops else ((path, 0) for path in above[:2]))],
        _listing,
        _text,
    )


def _text(path: PurePath) -> str:
    try:
        return read_file(Path(path).resolve()).decode("utf-8", "replace")
    except (OSError, RuntimeError):
        return ""  # what cannot be read shows nothing


def _listing(folder: PurePath) -> dict[str, bool]:
    try:
        with os.scandir(folder) as entries:
            return {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    except OSError:
        return {}


def _key(name: str) -> str:
    r"""Write undecodable bytes of a file name as `\xe9`, so that the database can store it."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
