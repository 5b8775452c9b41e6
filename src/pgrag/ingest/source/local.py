"""Sources on this machine: a folder, a file, an archive, or a commit of a repository."""

import os
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.formats import MANUAL, named_format
from pgrag.ingest.globs import matcher
from pgrag.ingest.source.archive import SUFFIXES as ARCHIVE_SUFFIXES
from pgrag.ingest.source.archive import Archive, is_archive
from pgrag.ingest.source.dates import GitHistory, dates_of_time, history_around
from pgrag.ingest.source.documentation import is_known, is_unread
from pgrag.ingest.source.folder import Tree, list_folder, list_tree
from pgrag.ingest.source.generators import Generator, find_generator
from pgrag.ingest.source.git import GitTree
from pgrag.ingest.source.ignored import NAMES
from pgrag.ingest.source.records import SUFFIXES as RECORD_SUFFIXES
from pgrag.ingest.source.records import record_pages
from pgrag.ingest.source.repository import Repository
from pgrag.ingest.source.selection import Selection, key_of, selected
from pgrag.ingest.source.sites import shows_versions
from pgrag.ingest.source.source import Source, SourceFile, read_file
from pgrag.ingest.values import UNDATED, Dates

#: They are read at once.
_LARGEST_RECORDS = 1_000_000_000


def open_folder(root: Path, selection: Selection, *, is_confined: bool = False) -> Source:
    """List the files of a folder. With `is_confined` nothing is read from outside its repository.
    Raises SourceError if it cannot be read or has no pages.
    """
    subfolder = selection.subfolder
    folder = root / (subfolder or "").strip("/")
    if subfolder and not folder.is_dir():
        raise SourceError(f"{root}: has no folder {subfolder!r}.")
    try:
        listing = list_folder(
            folder.resolve(), root.resolve(), include_ignored=selection.include_ignored
        )
    except OSError as error:
        raise SourceError(f"{error.filename}: cannot be read: {error.strerror}.") from error
    history = history_around(folder.resolve(), is_confined=is_confined)
    return selected(
        str(folder),
        listing,
        selection,
        [
            SourceFile(key_of(name), partial(read_file, path), dates=_dates(path))
            for name, path in listing.files
        ],
        arguments=selection.arguments(os.path.abspath(root)),
        history=history,
        text=partial(_text_below, folder.resolve()),
        generator=partial(_generator_of_folder, Path(os.path.abspath(folder))),
    )


def open_file(path: Path, selection: Selection) -> Source:
    """Take a single file, whatever its name, the files of an archive, or the pages of records.

    Raises SourceError if it is not a regular file.
    """
    if not path.is_file():
        raise SourceError(f"{path}: is neither a folder nor a regular file.")
    named = named_format(path.name)
    # Pages that are archives inside, also if damaged.
    is_page = named is not None and (named.is_packed or named is MANUAL)
    if not is_page and is_archive(path):
        archive = Archive(path, selection.subfolder, _may_be_read)
        return open_tree(archive, selection, selection.arguments(os.path.abspath(path)))
    if path.name.lower().endswith(ARCHIVE_SUFFIXES) and not is_page:
        raise SourceError(f"{path}: is not an archive, despite its name.")
    if selection.subfolder:
        raise SourceError(f"{path}: has no folder {selection.subfolder!r}.")
    arguments = selection.arguments(os.path.abspath(path))
    if path.name.lower().endswith(RECORD_SUFFIXES) and (pages := _pages_of_records(path)):
        is_wanted = matcher(selection.include, selection.exclude)
        wanted = tuple(page for page in pages if is_wanted(page.key))
        return Source(str(path), wanted, arguments=arguments)
    return Source(
        str(path),
        (SourceFile(key_of(path.name), partial(read_file, path.resolve()), dates=_dates(path)),),
        arguments=arguments,
        generator=partial(_generator_of_folder, Path(os.path.abspath(path)).parent),
    )


def _pages_of_records(path: Path) -> tuple[SourceFile, ...]:
    if path.stat().st_size > _LARGEST_RECORDS:
        raise SourceError(
            f"{path}: is larger than {_LARGEST_RECORDS:,} bytes of records.",
            hint="Export fewer fields, or split it into several libraries.",
        )
    data = SourceFile(path.name, partial(read_file, path.resolve())).read()
    pages = record_pages(data, is_lines=path.suffix.lower() != ".json")
    return tuple(
        SourceFile(key, lambda size, page=page: page if size < 0 else page[:size])  # type: ignore[misc]
        for key, page in sorted(pages.items())
    )


def open_commit(folder: Path, ref: str, selection: Selection) -> Source:
    """List the files of a commit. Raises SourceError if it is unknown or has no pages."""
    tree = GitTree(folder, ref, selection.subfolder)
    arguments = selection.arguments(os.path.abspath(folder), ref=tree.commit)
    history = GitHistory(tree.folder, tree.commit, tree.prefix, tree.below)
    return open_tree(tree, selection, arguments, history)


def open_fetched(
    source: str, repository: Repository, commit: str, ref: str | None, selection: Selection
) -> Source:
    """List the files of a commit that was fetched; `source` and `ref` are what the caller named."""
    tree = GitTree(repository.folder, commit, selection.subfolder, repository.url)
    tree.location = tree.location.removesuffix(commit) + (ref or commit[:12])
    arguments = selection.arguments(source, ref=commit)
    history = GitHistory(tree.folder, commit, tree.prefix, tree.below)
    return open_tree(tree, selection, arguments, history)


def open_tree(
    tree: Tree, selection: Selection, arguments: dict[str, Any], history: GitHistory | None = None
) -> Source:
    """List the files of a tree. Raises SourceError, and closes the tree, if it has no pages."""
    try:
        listing = list_tree(tree, include_ignored=selection.include_ignored)
    except SourceError:
        tree.close()
        raise
    return selected(
        tree.location,
        listing,
        selection,
        [
            SourceFile(
                key_of(name),
                partial(tree.read, handle),
                digest=tree.digest(handle),
                dates=tree.dates(handle),
            )
            for name, handle in listing.files
        ],
        arguments=arguments,
        revision=history.commit if history else None,
        history=history,
        text=lambda path: _text_of(tree, tree.prefix + path),
        generator=partial(_generator_of_tree, tree),
        release=tree.close,
    )


def _dates(path: Path) -> Dates:
    try:
        return dates_of_time(path.stat().st_mtime)
    except OSError:  # reading it says why
        return UNDATED


def _may_be_read(name: str) -> bool:
    """Whether a file may be a page, an ignore file, or show the generator."""
    base = name.rpartition("/")[2]
    return (
        is_known(base)
        or is_unread(base)
        or base in NAMES
        or base == "conf.py"
        or shows_versions(base)
    )


def _generator_of_tree(tree: Tree) -> Generator | None:
    """Search a tree: the source with two levels below it, then each folder above with one."""
    listings: dict[PurePath, dict[str, bool]] = {}
    for name in tree.names():
        path, is_folder = PurePosixPath(name), False
        while path.name and path.name not in listings.setdefault(path.parent, {}):
            listings[path.parent][path.name] = is_folder
            path, is_folder = path.parent, True
    start = PurePosixPath(tree.prefix)
    return find_generator(
        [(start, 2), *((parent, 1) for parent in start.parents)],
        lambda path: listings.get(path, {}),
        lambda path: _text_of(tree, str(path)),
    )


def _generator_of_folder(folder: Path) -> Generator | None:
    """Search two levels of a folder, then one of those up to its repository, else two parents."""
    above = list(folder.parents)
    tops = [up for up, path in enumerate((folder, *above)) if (path / ".git").exists()]
    repository = [(path, 1) for path in above[: tops[0]]] if tops else []
    return find_generator(
        [(folder, 2), *(repository if tops else ((path, 0) for path in above[:2]))], _listing, _text
    )


def _text_of(tree: Tree, path: str) -> str:
    return (tree.content(path) or b"").decode("utf-8", "replace")


def _text_below(root: Path, path: str) -> str:
    """Return the text of a file below a folder; "" for one that a link leads out of it."""
    file = Path(os.path.realpath(root / path))
    return _text(file) if file.is_relative_to(root) else ""


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
