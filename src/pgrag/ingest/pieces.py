"""Blocks cut into pieces: what a chunk is packed from, none longer than a chunk may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from pgrag.ingest.markdown import parse_blocks
from pgrag.ingest.sentences import sentence_spans, split_words
from pgrag.models import Block, ChunkProfile

PARAGRAPH = "\n\n"
_LINE = re.compile(r"[^\n]*\S")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_MARKER = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_MAX_FENCE_INFO = 60


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that stays together, and what joins it to the piece before it.

    `section` is the index of its section; `opens` are the sections whose headings stand between
    this piece and the one before it.
    """

    kind: str
    text: str
    line_start: int
    line_end: int
    types: tuple[str, ...]
    section: int
    joint: str = PARAGRAPH
    opens: tuple[int, ...] = ()


def cut(block: Block, section: int, profile: ChunkProfile) -> list[Piece]:
    """Return a block as pieces of at most the profile's maximum.

    A block that fits stays whole. Longer text is cut at sentences, a list at its items (and an
    item inside), a table or HTML at its lines, code at lines (each piece fenced again); a
    sentence, row or line that is longer still, at white space or anywhere.
    """
    whole = Piece(
        block.type,
        block.text,
        block.line_start,
        block.line_end,
        tuple(dict.fromkeys((block.type, *block.contains))),
        section,
    )
    if len(block.text) <= profile.maximum:
        return [whole]
    pieces = list(_fitting(whole, profile))
    # what macros and markup left out makes lines counted in the text fall short of the source's
    return [*pieces[:-1], replace(pieces[-1], line_end=block.line_end)] if pieces else []


def refine(piece: Piece, profile: ChunkProfile) -> list[Piece]:
    """Return a piece as smaller ones: at its natural borders, or at words where it has none.

    Code stays as it is.
    """
    if piece.kind == "code":
        return [piece]
    parts = _parts(piece, profile)
    return list(_words(piece, max(len(piece.text) // 4, 20))) if parts is None else parts


def _fitting(piece: Piece, profile: ChunkProfile) -> Iterator[Piece]:
    if len(piece.text) <= profile.maximum:
        yield piece
        return
    parts = _parts(piece, profile)
    for part in _words(piece, profile.maximum) if parts is None else parts:
        yield from _fitting(part, profile)


def _parts(piece: Piece, profile: ChunkProfile) -> list[Piece] | None:
    """Cut a piece at the borders that its kind has, else at sentences; None if it has none."""
    splitters: dict[str, Callable[[Piece, ChunkProfile], Iterable[Piece]]] = {
        "code": _code,
        "list": _items,
        "item": _item,
        "table": _lines,
        "html": _lines,
        "quote": _lines,
        "math": _lines,
        "callout": _lines if piece.text.lstrip().startswith(">") else _sentences,
    }
    for splitter in (splitters.get(piece.kind, _sentences), _sentences):
        parts = list(splitter(piece, profile))
        if len(parts) != 1 or len(parts[0].text) < len(piece.text):
            return parts
        if piece.kind == "code":
            break
    return None


def _spans(piece: Piece, spans: Iterable[tuple[int, int]], kind: str) -> Iterator[Piece]:
    """Cut out parts by offsets; the first part inherits what joins the whole to its left."""
    line, counted = piece.line_start, 0
    joint, opens = piece.joint, piece.opens
    for start, end in spans:
        if counted:
            between = piece.text[counted:start]
            joint, opens = PARAGRAPH if between.count("\n") > 1 else between[:1], ()
        line_start = line + piece.text.count("\n", counted, start)
        line = line_start + piece.text.count("\n", start, end)
        counted = end
        yield replace(
            piece,
            kind=kind,
            text=piece.text[start:end],
            line_start=line_start,
            line_end=line,
            joint=joint,
            opens=opens,
        )


def _sentences(piece: Piece, profile: ChunkProfile) -> Iterator[Piece]:
    return _spans(piece, sentence_spans(piece.text), piece.kind)


def _words(piece: Piece, limit: int) -> Iterator[Piece]:
    return _spans(piece, split_words(piece.text, limit), "text")


def _lines(piece: Piece, profile: ChunkProfile) -> Iterator[Piece]:
    spans = (match.span() for match in _LINE.finditer(piece.text))
    return _spans(piece, spans, piece.kind)


def _items(piece: Piece, profile: ChunkProfile) -> Iterator[Piece]:
    """Cut a list at its items: at markers that are not indented as far as an item's text."""
    lines = piece.text.split("\n")
    starts: list[int] = []
    width = len(piece.text)
    for number, line in enumerate(lines):
        marker = _MARKER.match(line.expandtabs(4) if "\t" in line else line)
        if marker and len(marker["indent"]) < width:
            starts.append(number)
            width = marker.end()
    if not starts or starts[0]:
        yield from _lines(piece, profile)
        return
    joint, opens = piece.joint, piece.opens
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        text = "\n".join(lines[start:end]).rstrip()
        line_start = piece.line_start + start
        yield replace(
            piece,
            kind="item",
            text=text,
            line_start=line_start,
            line_end=line_start + text.count("\n"),
            joint=joint,
            opens=opens,
        )
        joint, opens = "\n" if lines[end - 1].strip() else PARAGRAPH, ()


def _item(piece: Piece, profile: ChunkProfile) -> Iterator[Piece]:
    """Cut a list item at its blocks, the marker before the first one, the indent removed."""
    marker = _MARKER.match(piece.text)
    if not marker:
        yield from _sentences(piece, profile)
        return
    width = marker.end()
    first, *rest = piece.text.split("\n")
    inner = [first[width:], *(line[_indent(line, width) :] for line in rest)]
    blocks = parse_blocks("\n".join(inner), piece.line_start)
    if len(blocks) < 2:
        yield from _sentences(replace(piece, kind="text"), profile)
        return
    for place, block in enumerate(blocks):
        yield replace(
            piece,
            kind=block.type,
            text=block.text if place else marker[0] + block.text,
            line_start=block.line_start,
            line_end=block.line_end,
            joint=PARAGRAPH if place else piece.joint,
            opens=() if place else piece.opens,
        )


def _indent(line: str, width: int) -> int:
    return min(width, len(line) - len(line.lstrip()))


def _code(piece: Piece, profile: ChunkProfile) -> Iterator[Piece]:
    """Code that alone exceeds the maximum: cut at lines, at an empty one if there is one near."""
    lines = piece.text.split("\n")
    opener = closer = ""
    first_line = piece.line_start
    if fence := _FENCE.match(lines[0]):
        opener = lines[0][: fence.end() + _MAX_FENCE_INFO].rstrip() + "\n"
        closer = "\n" + lines[0][: fence.end()]
        is_closed = len(lines) > 1 and not lines[-1].strip().strip(fence[1][0])
        lines = lines[1:-1] if is_closed else lines[1:]
        first_line += 1
    room = profile.maximum - len(opener) - len(closer)
    joint, opens = piece.joint, piece.opens
    for start, group in _line_groups(lines, min(room, profile.preferred), room):
        text = opener + "\n".join(group) + closer
        line_start = first_line + start
        yield replace(
            piece,
            text=text,
            line_start=line_start,
            line_end=min(line_start + len(group) - 1, piece.line_end),
            joint=joint,
            opens=opens,
        )
        joint, opens = PARAGRAPH, ()


def _line_groups(lines: list[str], preferred: int, room: int) -> Iterator[tuple[int, list[str]]]:
    """Yield (index of the first line, lines) of groups of similar size, at most `room` each."""
    remaining = sum(len(line) + 1 for line in lines)
    group: list[str] = []
    start = size = 0
    target = float(preferred)
    for index, line in enumerate(lines):
        is_full = size + len(line) > room or size + len(line) / 2 > target
        if group and (is_full or (not line.strip() and size > 0.8 * target)):
            yield start, group
            group, size = [], 0
        if not group:
            target = remaining / -(-remaining // preferred)
            start = index
        remaining -= len(line) + 1
        if not group and not line.strip():
            continue
        *parts, rest = _equal_parts(line, room)
        for part in parts:
            yield index, [part]
        group.append(rest)
        size += len(rest) + 1
    if group:
        yield start, group


def _equal_parts(line: str, room: int) -> list[str]:
    """Cut a line longer than `room` anywhere; a minified file has no better place."""
    step = -(-len(line) // -(-len(line) // room)) if len(line) > room else room
    return [line[start : start + step] for start in range(0, max(len(line), 1), step)]
