"""The locks that runs hold on a version or a library while they read and write it."""

from collections.abc import Iterator
from contextlib import contextmanager

from pgrag.ground.connections import Database


@contextmanager
def held(
    database: Database, doing: str, library: str, version: str = "", *, from_removal: bool = False
) -> Iterator[tuple[str, str | None]]:
    """Hold the lock of those who do the same to a version; of a library without versions, or of a
    library as a whole, `version` is empty. With `from_removal` also share the locks by which
    `_pgrag.lock_out_indexing` removes. Yields the name for people, and of what another session
    prevents: `doing`, "version" or "library"; None if the locks are held.

    Every caller may take any lock, and so learn who else works on what. Therefore the rights come
    first: UnknownLibrary for a library that the caller neither sees nor may make.
    """
    library, version = library.strip().lower(), version.strip().lower()
    database.call("_pgrag.require_target", library=library, version=version)
    name = "@".join(filter(None, (library, version)))
    shared = (f"pgrag version {name}", f"pgrag library {library}") if from_removal else ()
    with database.lock(f"pgrag {doing} {name}", *shared) as taken:
        yield name, taken and taken.split(" ", 2)[1]
