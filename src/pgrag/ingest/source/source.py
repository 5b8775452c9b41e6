"""Sources of pages: files with bytes, listed but not read."""

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from pgrag.ground.errors import SourceError
from pgrag.ingest.source.generators import Generator
from pgrag.ingest.values import NOWHERE, UNDATED, Dates, Origin


def read_file(path: Path, size: int = -1) -> bytes:
    """Return the first `size` bytes of a regular file, or all, without waiting. Raises OSError,
    also for a symbolic link.
    """
    if not hasattr(os, "O_NOFOLLOW") and path.is_symlink():  # Windows
        raise OSError(errno.ELOOP, "it is a symbolic link", os.fspath(path))
    flags = os.O_RDONLY
    for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC"):
        flags |= getattr(os, name, 0)
    with open(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
        return file.read(size)


#: Names that are given as examples of each group of skipped files.
EXAMPLES = 3

_POINTER = b"version https://git-lfs.github.com/spec/"
_LONGEST_POINTER = 1024


class Elsewhere(SourceError):
    """The content of a file is elsewhere."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a source. `key` is its path below the source, with "/". `load` returns at most
    the given number of bytes, all of them for -1. `digest` is that of `digest_of` if it is known
    before the bytes are read. `dates` are those of its time.
    `path` is where it lies in the source if its key says something else.
    """

    key: str
    load: Callable[[int], bytes] = field(repr=False)
    origin: Origin = NOWHERE
    digest: str | None = None
    dates: Dates = UNDATED
    path: str | None = None

    def read(self, limit: int | None = None) -> bytes:
        """Return the file's bytes. Raises SourceError if it cannot be read, or is larger than
        `limit`, and Elsewhere for a pointer of Git LFS.
        """
        try:
            data = self.load(-1 if limit is None else limit + 1)
        except OSError as error:
            raise SourceError(f"{self.key}: cannot be read: {error.strerror}.") from error
        if limit is not None and len(data) > limit:
            raise SourceError(
                f"{self.key}: is larger than {limit:,} bytes.",
                hint="Split it, or raise PGRAG_MAX_PAGE_BYTES.",
            )
        if data.startswith(_POINTER) and len(data) <= _LONGEST_POINTER:
            raise Elsewhere(
                "pointers of Git LFS", hint="Run `git lfs pull` in a clone, and index its folder."
            )
        return data


@dataclass(frozen=True, slots=True)
class Skipped:
    """Files of a source that become no pages, for one reason; `hint` is how to read them."""

    reason: str
    count: int
    examples: tuple[str, ...] = ()
    hint: str = ""


class Skips:
    """Collects what is skipped of a source."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], list[str]] = {}

    def add(self, name: str, reason: str, hint: str = "") -> None:
        """Add one file."""
        self._names.setdefault((reason, hint), []).append(name)

    def grouped(self) -> tuple[Skipped, ...]:
        """Return the groups, the largest first."""
        return tuple(
            Skipped(reason, len(names), tuple(sorted(names)[:EXAMPLES]), hint)
            for (reason, hint), names in sorted(
                self._names.items(), key=lambda item: (-len(item[1]), item[0])
            )
        )


def digest_of(data: bytes) -> str:
    """Return the id that git gives to these bytes: unchanged files of a repository are not read."""
    head = f"blob {len(data)}\0".encode()
    return hashlib.sha1(head + data, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class Commit:
    """The commits of one file: the blob of the last one, the times of the first and the last, in
    ISO 8601; `created` is None if the first is not known.
    """

    blob: str
    created: str | None
    modified: str


@dataclass(frozen=True, slots=True)
class History:
    """The commits of files by their keys, and what a user should know about their lack."""

    commits: Mapping[str, Commit]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a source, listed but not read; a context manager. `location` says where it is,
    `revision` is its commit. `ignored` counts what ignore files leave out, `skipped` is what else
    is no page. With `arguments` `App.index` reads it again. `generator` finds the site generator
    that publishes it, if its configuration is near. `ref` is what the caller named as the commit.
    `history` reads the commits of its files up to `head`. `notes` is what a user may want to know.
    `text` reads any file of it by its path; "" if there is none.
    """

    location: str
    listed: tuple[SourceFile, ...]
    revision: str | None = None
    warnings: tuple[str, ...] = ()
    ignored: int = 0
    skipped: tuple[Skipped, ...] = ()
    arguments: dict[str, Any] | None = None
    generator: Callable[[], Generator | None] = field(default=lambda: None, repr=False)
    release: Callable[[], None] = field(default=lambda: None, repr=False)
    ref: str | None = None
    head: str | None = None
    history: Callable[[], History] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    text: Callable[[str], str] = field(default=lambda _: "", repr=False)

    def __len__(self) -> int:
        return len(self.listed)

    def files(self) -> Iterator[SourceFile]:
        """Yield the files in key order."""
        yield from self.listed

    def close(self) -> None:
        """Give back what the source holds."""
        self.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
