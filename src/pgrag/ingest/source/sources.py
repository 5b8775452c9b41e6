"""Sources of pages: a folder, a file, or a commit of a git repository."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Self

from pgrag.errors import SourceError
from pgrag.ingest.globs import matcher
from pgrag.ingest.source.generators import Generator, find_generator
from pgrag.ingest.source.git import GitTree

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

    `location` is a one-line description, `revision` the commit (None for files on disk),
    `warnings` name skipped files. Called with `arguments`, `discover` lists the same files again,
    from any working directory; None if that is impossible. A source of a commit reads through a
    process: use it as a context manager, or close it.
    """

    location: str
    revision: str | None = None
    warnings: tuple[str, ...] = ()
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
) -> Source:
    """List the Markdown files (`.md`, `.markdown`, `.mdx`) of a folder, or take a single file.

    `include` and `exclude` are globs over keys (see `globs.matcher`). `subfolder` restricts the
    source to that folder, and keys are relative to it. With `ref` (a branch, tag or commit) the
    files are read from that commit of the git repository around the folder, whatever is checked
    out; nothing is fetched. Hidden folders and `node_modules` are skipped; so are symbolic links
    that leave the folder, with a warning. No folder is visited twice.

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
            f"{source}: no such file or folder.",
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
    }
    warnings: list[str] = []
    if tree is not None:
        location = tree.location
        files = [
            SourceFile(_key(name), partial(tree.read, blob))
            for name, blob in tree.blobs()
            if _is_markdown(name) and not _is_skipped(name.split("/")[:-1])
        ]
    else:
        if subfolder:
            root /= subfolder.strip("/")
            if not root.is_dir():
                raise SourceError(f"{source}: has no folder {subfolder!r}.")
        location = str(root)
        if not root.is_dir():
            file = SourceFile(_key(root.name), root.read_bytes)
            folder = Path(os.path.abspath(root)).parent
            return Source(location, arguments=arguments, _files=(file,), _folder=folder)
        try:
            files = [
                SourceFile(_key(name), path.read_bytes)
                for name, path in _walk(root.resolve(), warnings)
            ]
        except OSError as error:
            raise SourceError(f"{error.filename}: cannot be read: {error.strerror}.") from error
    if not files:
        raise SourceError(f"{location}: no Markdown in it (looked for {', '.join(SUFFIXES)}).")
    wanted = {file.key: file for file in files if is_wanted(file.key)}
    if not wanted:
        raise SourceError(f"{location}: include and exclude leave none of its {len(files)} files.")
    return Source(
        location,
        arguments["ref"],
        tuple(warnings),
        arguments,
        _files=tuple(wanted[key] for key in sorted(wanted)),
        _tree=tree,
        _folder=Path(os.path.abspath(root)),
    )


def _generator_of_commit(tree: GitTree) -> Generator | None:
    listings: dict[PurePath, dict[str, bool]] = {}
    for name in tree.names():
        path, is_folder = PurePosixPath(name), False
        while path.name and path.name not in listings.setdefault(path.parent, {}):
            listings[path.parent][path.name] = is_folder
            path, is_folder = path.parent, True
    start = PurePosixPath(tree.folder)
    folders = [(start, 2), *((parent, 1) for parent in start.parents)]
    return find_generator(
        folders, lambda path: listings.get(path, {}), lambda path: tree.text(str(path))
    )


def _generator_of_folder(folder: Path) -> Generator | None:
    above = list(folder.parents)
    tops = [up for up, path in enumerate((folder, *above)) if (path / ".git").exists()]
    repository = [(path, 1) for path in above[: tops[0]]] if tops else []
    return find_generator(
        [(folder, 2), *(repository if tops else ((path, 0) for path in above[:2]))],
        _listing,
        lambda path: Path(path).read_text(encoding="utf-8", errors="replace"),
    )


def _listing(folder: PurePath) -> dict[str, bool]:
    try:
        with os.scandir(folder) as entries:
            return {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    except OSError:
        return {}


def _is_markdown(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def _walk(root: Path, warnings: list[str]) -> Iterator[tuple[str, Path]]:
    """Yield name and path of each Markdown file below a folder, symbolic links last.

    Links to folders are not followed, so they cannot loop: a folder inside the source is read at
    its real place. A link to a file counts only if the file itself is not listed.
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
                elif entry.is_file(follow_symlinks=False) and _is_markdown(entry.name):
                    seen.add(path)
                    yield name, path
    for name, path in sorted(links):
        try:
            target = path.resolve(strict=True)
        except (OSError, RuntimeError):
            if _is_markdown(name):
                warnings.append(f"{name}: is a symbolic link that leads nowhere; skipped")
            continue
        if not target.is_relative_to(root):
            if _is_markdown(name) or target.is_dir():
                warnings.append(f"{name}: is a symbolic link out of the folder; skipped")
        elif _is_markdown(name) and target.is_file() and target not in seen:
            seen.add(target)
            yield name, path


def _is_skipped(folders: Sequence[str]) -> bool:
    return any(name.startswith(".") or name in _SKIPPED_FOLDERS for name in folders)


def _key(name: str) -> str:
    """Replace undecodable bytes of a file name, so that the database can store it."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
