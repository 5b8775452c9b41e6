"""The files of an archive (zip or tar), without unpacking it. It may be hostile: nothing of it gets
a name on the disk, only regular files count, and their number and bytes are bounded.
"""

import shutil
import stat
import tarfile
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO

from pgrag.ground.errors import SourceError
from pgrag.ingest.source.dates import dates_of_time
from pgrag.ingest.source.source import Skips
from pgrag.ingest.source.unpacking import LARGEST, LONGEST_READ, Unpacked, is_compressed
from pgrag.ingest.values import Dates

#: Usual suffixes of archives; whether a file is one, its content tells.
SUFFIXES = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar")
#: Members of an archive; bytes of a copied member; bytes of the directory of a zip archive.
MOST_MEMBERS = 250_000
LARGEST_MEMBER = 200_000_000
LONGEST_DIRECTORY = 32_000_000

_HEAD = 512
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2})
_ENCRYPTED = 1
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")

_OUTSIDE = ("names that lead out of the archive",)
_IRREGULAR = ("links and devices",)
_OTHER = {b"7z\xbc\xaf\x27\x1c": "7-Zip", b"Rar!\x1a\x07": "RAR", b"\x28\xb5\x2f\xfd": "Zstandard"}


#: Returns the first bytes of a member.
_Load = Callable[[int], bytes]
#: The time of a member in seconds, and what reads it.
_Member = tuple[float, _Load]


def is_archive(path: Path) -> bool:
    """Whether a file is an archive by its content, other than a document that is a zip file inside;
    False if it cannot be read: reading it as a page says why.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            if head.startswith(_ZIP):
                return not _is_document(file)
    except OSError:
        return False
    return has_archive(head)


def has_archive(head: bytes) -> bool:
    """Whether a file that begins like this is an archive, or a document that is a zip file."""
    is_tar = head[257:262] == b"ustar"
    return is_tar or is_compressed(head) or head.startswith((*_ZIP, *_OTHER))


class Archive:
    """The regular files of an archive below `subfolder`, without the folder that holds them all.
    `wanted` tells by name which may be read. Raises SourceError.
    """

    def __init__(self, path: Path, subfolder: str | None, wanted: Callable[[str], bool]) -> None:
        self.skips = Skips()
        self.location = f"{path}/{subfolder.strip('/')}" if subfolder else str(path)
        self.prefix = f"{subfolder.strip('/')}/" if subfolder else ""
        self._lock = threading.Lock()
        self._sizes: dict[str, int] = {}
        self._read = 0
        with ExitStack() as opened:
            members = _members(path, wanted, self.skips, opened)
            self._opened = opened.pop_all()
        top = _top(members)
        self._members = {name.removeprefix(top): member for name, member in members.items()}

    def blobs(self) -> Iterator[tuple[str, str]]:
        """Yield (path below the subfolder, name) of each file."""
        for name in self._members:
            if name.startswith(self.prefix):
                yield name.removeprefix(self.prefix), name

    def names(self) -> list[str]:
        """Return the name of every file, also outside the subfolder."""
        return [*self._members]

    def read(self, name: str, size: int = -1) -> bytes:
        """Return the content of a file, or its first `size` bytes."""
        with self._lock:
            try:
                data = self._members[name][1](size if size >= 0 else LARGEST)
            except (
                OSError, EOFError, RuntimeError, ValueError, zlib.error, zipfile.BadZipFile
            ) as error:  # fmt: skip
                raise SourceError(f"{name}: cannot be unpacked: {_said(error)}.") from error
            more = max(0, len(data) - self._sizes.get(name, 0))
            self._sizes[name] = self._sizes.get(name, 0) + more
            self._read += more
            if self._read > LARGEST:
                raise SourceError(f"{self.location}: holds more than {LARGEST:,} bytes.")
        return data

    def content(self, path: str) -> bytes | None:
        """Return the content of a file by its name, or None; a megabyte at most."""
        try:
            return self.read(path, LONGEST_READ) if path in self._members else None
        except SourceError:
            return None

    @staticmethod
    def digest(_: str) -> None:
        """Return None: an archive knows no digests."""

    def dates(self, name: str) -> Dates:
        """Return the dates that the time of a file gives."""
        return dates_of_time(self._members[name][0])

    def close(self) -> None:
        """Close the file."""
        self._opened.close()


def _members(
    path: Path, wanted: Callable[[str], bool], skips: Skips, opened: ExitStack
) -> dict[str, _Member]:
    try:
        file = opened.enter_context(path.open("rb"))
        head = file.read(_HEAD)
        for magic, packer in _OTHER.items():
            if head.startswith(magic):
                raise SourceError(
                    f"{path}: is packed by {packer}, which pgrag cannot read.",
                    hint="Unpack it and index the folder, or pack it as zip, tar, tar.gz, tar.bz2"
                    " or tar.xz.",
                )
        file.seek(0)
        if head.startswith(_ZIP):
            return _zip_members(_zip(file), wanted, skips)
        copies = opened.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        return _tar_members(Unpacked(file, str(path)), copies, wanted, skips)
    except (OSError, RuntimeError, ValueError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise SourceError(f"{path}: is not an archive that can be read: {_said(error)}.") from error


def _zip_members(
    packed: zipfile.ZipFile, wanted: Callable[[str], bool], skips: Skips
) -> dict[str, _Member]:
    members: dict[str, _Member] = {}
    for info in packed.infolist():
        # Some programs write the separators of Windows.
        name = info.filename.replace("\\", "/")
        if name.endswith("/"):
            continue
        path = _path_within(name)
        fault: tuple[str, ...] = ()
        if path is None:
            fault = _OUTSIDE
        elif stat.S_IFMT(info.external_attr >> 16) not in {0, stat.S_IFREG}:
            fault = _IRREGULAR
        elif info.flag_bits & _ENCRYPTED:
            fault = ("encrypted", "Unpack the archive with its password, and index the folder.")
        elif info.compress_type not in _METHODS:
            fault = ("packed by a rare method", "Pack it again, by deflate.")
        else:
            members[path] = _time_of(info), partial(_zip_content, packed, info)
        if fault and wanted(name):
            skips.add(name, *fault)
    return members


def _time_of(info: zipfile.ZipInfo) -> float:
    """Return the time of a member in seconds; zip archives do not say of which time zone."""
    try:
        return datetime(*info.date_time, tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0


def _zip_content(packed: zipfile.ZipFile, info: zipfile.ZipInfo, size: int) -> bytes:
    with packed.open(info) as member:
        return member.read(size)


def _zip(file: BinaryIO) -> zipfile.ZipFile:
    """Open a zip archive, unless its directory would fill the memory."""
    packed = zipfile.ZipFile(_Bounded(file))
    packed.fp = file
    return packed


class _Bounded:
    """A file that refuses to read more at once than a directory may have."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        if size > LONGEST_DIRECTORY:
            raise OSError(None, f"its directory is longer than {LONGEST_DIRECTORY:,} bytes")
        return self._file.read(size)


def _tar_members(
    unpacked: Unpacked, copies: BinaryIO, wanted: Callable[[str], bool], skips: Skips
) -> dict[str, _Member]:
    """Copy the wanted members of an archive that can only be read from its beginning."""
    members: dict[str, _Member] = {}
    with tarfile.open(fileobj=unpacked, mode="r:", errors="surrogateescape") as packed:
        for count, member in enumerate(packed, start=1):
            packed.members.clear()  # type: ignore[attr-defined]  # it would keep them all
            if count > MOST_MEMBERS:
                raise OSError(None, f"it has more than {MOST_MEMBERS:,} members")
            if member.isdir():
                continue
            path = _path_within(member.name)
            is_regular = member.isreg() and not member.issparse()
            is_wanted = wanted(member.name)
            if path is not None and is_regular and member.size <= LARGEST_MEMBER:
                start = copies.tell()
                content = packed.extractfile(member) if is_wanted else None
                if content is not None:
                    shutil.copyfileobj(content, copies, LONGEST_READ)
                load = partial(_copied, copies, start, copies.tell() - start)
                members[path] = float(member.mtime), load
            elif is_wanted and path is None:
                skips.add(member.name, *_OUTSIDE)
            elif is_wanted and is_regular:
                skips.add(member.name, f"larger than {LARGEST_MEMBER:,} bytes")
            elif is_wanted:
                skips.add(member.name, *_IRREGULAR)
    return members


def _path_within(name: str) -> str | None:
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if name.startswith("/") or ".." in parts or not parts or parts[0].endswith(":"):
        return None
    return "/".join(parts)


def _copied(copies: BinaryIO, start: int, length: int, size: int) -> bytes:
    copies.seek(start)
    return copies.read(min(length, size))


def _top(names: dict[str, _Member]) -> str:
    """Return the folder, with a final "/", that holds all files; else nothing."""
    tops = {name.partition("/")[0] for name in names if not name.startswith("__MACOSX/")}
    top = f"{tops.pop()}/" if len(tops) == 1 else ""
    return "" if top[:-1] in names else top


def _is_document(file: BinaryIO) -> bool:
    try:
        names = _zip(file).namelist()
    except (OSError, RuntimeError, ValueError, zipfile.BadZipFile):
        return False
    return "[Content_Types].xml" in names or names[:1] == ["mimetype"]


def _said(error: BaseException) -> str:
    said = error.strerror if isinstance(error, OSError) else None
    return said or str(error) or "it is damaged"
