"""What an agent has been shown, as a short text that it gives back: the protocol keeps no session.

The text holds the ids themselves, so it needs no table, and forging one only hides passages from
its forger. Ids of one library are near each other: they are sorted, and the gaps between them are
stored as Rice codes, which take about 1.5 bits more than log2 of the mean gap (Golomb, "Run-length
encodings", 1966). Twenty passages of a library with 20,000 take about 45 characters.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import crc_hqx
from collections.abc import Iterable, Iterator
from itertools import groupby

from pgrag.ground.errors import InvalidInput

MOST = 1000
"""Passages that can be left out of a search."""

_ID_BITS = 63
_LOCAL_BITS = 33
"""Bits of a document_id, and of its part below the library_id."""


def pack(ids: Iterable[int]) -> str:
    """The text for passages by document_id; the newest `MOST`, by their ids."""
    kept = sorted(set(ids))[-MOST:]
    bits = "1"
    before = -1
    for library, members in groupby(kept, lambda each: each >> _LOCAL_BITS):
        local = [each & (1 << _LOCAL_BITS) - 1 for each in members]
        width = ((local[-1] + 1) // len(local)).bit_length()
        bits += _gamma(library - before) + _gamma(len(local)) + _gamma(width + 1)
        gaps = (after - each - 1 for each, after in zip([-1, *local], local, strict=False))
        bits += "".join(_rice(gap, width) for gap in gaps)
        before = library
    body = int(bits, 2).to_bytes(-(-len(bits) // 8), "big")
    return urlsafe_b64encode(_check(body) + body).decode().rstrip("=")


def unpack(text: str) -> list[int]:
    """The ids of a text of `pack`. Raises `InvalidInput` for any other."""
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        ids = _read(data[2:]) if data[:2] == _check(data[2:]) else None
    except (ValueError, RuntimeError, StopIteration):  # within a generator the end is the second
        ids = None
    if ids is None or any(each >= 1 << _ID_BITS for each in ids) or pack(ids) != text:
        raise InvalidInput(
            f"{text[:100]!r} is not what a reply gave as `seen`.",
            hint="Pass it unchanged from the last reply, or leave it out.",
        )
    return ids


def _read(body: bytes) -> list[int]:
    bits = iter(f"{int.from_bytes(body, 'big'):b}"[1:])
    ids: list[int] = []
    library = -1
    for first in bits:
        library += _read_gamma(first, bits)
        count, width = (_read_gamma(next(bits), bits) for _ in range(2))
        local = -1
        for _ in range(count):
            local += _read_rice(bits, width - 1) + 1
            ids.append(library << _LOCAL_BITS | local)
    return ids


def _check(body: bytes) -> bytes:
    return crc_hqx(body, 0).to_bytes(2, "big")


def _gamma(number: int) -> str:
    """Elias' gamma code of a positive number: its bits behind as many zeros as follow its first."""
    bits = f"{number:b}"
    return "0" * (len(bits) - 1) + bits


def _read_gamma(first: str, bits: Iterator[str]) -> int:
    zeros, bit = 0, first
    while bit == "0":
        zeros, bit = zeros + 1, next(bits)
    return int("1" + "".join(next(bits) for _ in range(zeros)), 2)


def _rice(number: int, width: int) -> str:
    low = f"{number & (1 << width) - 1:0{width}b}" if width else ""
    return "1" * (number >> width) + "0" + low


def _read_rice(bits: Iterator[str], width: int) -> int:
    high = 0
    while next(bits) == "1":
        high += 1
    return high << width | int("0" + "".join(next(bits) for _ in range(width)), 2)
