"""Decompress a file piece by piece, within bounds: at most `LARGEST` bytes come out."""

import bz2
import io
import lzma
import zlib
from collections.abc import Callable
from typing import BinaryIO, Protocol

from pgrag.ground.errors import SourceError

#: Bytes of an archive, unpacked.
LARGEST = 4_000_000_000
#: Bytes of a read: what a reader of headers may not exceed.
LONGEST_READ = 1 << 20
_PIECE = 1 << 16
#: Memory for LZMA: four times the dictionary of `xz -9`.
_MEMORY = 256_000_000


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = ...) -> bytes: ...


class _Gzip:
    """A stream of gzip with the interface of the other decompressors."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int = 0) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + data, max_length)


_FORMATS: dict[bytes, Callable[[], _Decompressor]] = {
    b"\x1f\x8b": _Gzip,
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _MEMORY),
}


def is_compressed(head: bytes) -> bool:
    """Whether a file that begins like this is compressed by gzip, bzip2 or xz."""
    return _format(head) is not None


class Unpacked(io.RawIOBase):
    """The content of a file that may be compressed, to be read forward only. Raises SourceError
    beyond bounds, OSError for broken data.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        super().__init__()
        self._file = file
        self._name = name
        self._position = 0
        self._pending = b""
        head = file.read(_PIECE)
        self._make = _format(head)
        self._stream = self._make() if self._make else None
        self._input = head

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True: forward."""
        return True

    def tell(self) -> int:
        """Return how many bytes have been read."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go forward to a position; further than the end is the end."""
        if whence != io.SEEK_SET or offset < self._position:
            raise io.UnsupportedOperation("only forward")
        while self._position < offset:
            if not self.read(min(offset - self._position, _PIECE)):
                break
        return self._position

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes: as many as asked for, except at the end."""
        if not 0 <= size <= LONGEST_READ:
            raise SourceError(f"{self._name}: is not an archive: its header has {size:,} bytes.")
        parts: list[bytes] = []
        missing = size
        while missing:
            piece = self._pending or self._next()
            if not piece:
                break
            parts.append(piece[:missing])
            self._pending = piece[missing:]
            missing -= len(parts[-1])
        self._position += size - missing
        if self._position > LARGEST:
            raise SourceError(
                f"{self._name}: holds more than {LARGEST:,} bytes.",
                hint="Unpack it yourself, and index the folder.",
            )
        return b"".join(parts)

    def _next(self) -> bytes:
        if self._stream is None or self._make is None:
            piece, self._input = self._input, b""
            return piece or self._file.read(_PIECE)
        while True:
            if self._stream.eof:
                # Parallel compressors write several streams, one after the other.
                rest = self._stream.unused_data or self._file.read(_PIECE)
                if not rest.strip(b"\0"):
                    return b""
                self._stream, self._input = self._make(), rest
            try:
                piece = self._stream.decompress(self._input, _PIECE)
            except (zlib.error, lzma.LZMAError, OSError, ValueError) as error:
                raise OSError(None, f"its compression is broken: {error}") from error
            self._input = b""
            if piece:
                return piece
            if not self._stream.eof and not (data := self._file.read(_PIECE)):
                raise OSError(None, "its end is missing")
            self._input = b"" if self._stream.eof else data


def _format(head: bytes) -> Callable[[], _Decompressor] | None:
    return next((make for magic, make in _FORMATS.items() if head.startswith(magic)), None)
