"""Split blocks into pieces, the units of packing, none longer than a chunk may be."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from pgrag.ingest.text.markdown import parse_blocks
from pgrag.ingest.text.sentences import sentence_spans, split_words
from pgrag.ingest.values import Block, ChunkProfile

PARAGRAPH = "\n\n"
_LINE = re.compile(r"[^\n]*\S")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_MARKER = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_MAX_FENCE_INFO = 60


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that stays together, the index of its section, and the joint to the previous piece."""

    kind: str
    text: str
    line_start: int
    line_end: int
    types: tuple[str, ...]
    section: int
    joint: str = PARAGRAPH


def cut(block: Block, section: int, profile: ChunkProfile) -> list[Piece]:
    """Return a block as pieces within the maximum, split at sentences, items, rows or lines, else
    at words.
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
    # removed macros and markup make the lines of the text fewer than those of the source
    return [*pieces[:-1], replace(pieces[-1], line_end=block.line_end)] if pieces else []


def introduces(piece: Piece, following: Piece) -> bool:
    """Whether a piece ends with a colon that announces the code, list or table after it."""
    return piece.text.endswith((":", "：", ":**")) and following.kind in {"code", "list", "table"}


def refine(piece: Piece, profile: ChunkProfile) -> list[Piece]:
    """Split a piece at its natural borders, or at words if it has none; code stays whole."""
    if piece.kind == "code":
        return [piece]
    return _parts(piece, profile, max(len(piece.text) // 4, 20))


def _fitting(piece: Piece, profile: ChunkProfile) -> Iterator[Piece]:
    if len(piece.text) <= profile.maximum:
        yield piece
        return
    for part in _parts(piece, profile, profile.maximum):
        yield from _fitting(part, profile)


def _parts(piece: Piece, profile: ChunkProfile, words: int) -> list[Piece]:
    """Split a piece at the borders of its kind, else at sentences, else at `words` characters."""
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
            break
        if piece.kind == "code" or splitter is _sentences:
            parts = list(_spans(piece, split_words(piece.text, words), "text"))
            break
    return [replace(part, joint=piece.joint) for part in parts[:1]] + parts[1:]


def _part(piece: Piece, kind: str, text: str, line_start: int, joint: str = PARAGRAPH) -> Piece:
    line_end = line_start + text.count("\n")
    return Piece(kind, text, line_start, line_end, piece.types, piece.section, joint)


def _spans(piece: Piece, spans: Iterable[tuple[int, int]], kind: str) -> Iterator[Piece]:
    line, counted = piece.line_start, 0
    for start, end in spans:
        between = piece.text[counted:start]
        joint = PARAGRAPH if between.count("\n") > 1 else between[:1]
        part = _part(piece, kind, piece.text[start:end], line + between.count("\n"), joint)
        line, counted = part.line_end, end
        yield part


def _sentences(piece: Piece, _: ChunkProfile) -> Iterator[Piece]:
    return _spans(piece, sentence_spans(piece.text), piece.kind)


def _lines(piece: Piece, _: ChunkProfile) -> Iterator[Piece]:
    spans = (match.span() for match in _LINE.finditer(piece.text))
    return _spans(piece, spans, piece.kind)


def _items(piece: Piece, profile: ChunkProfile) -> Iterator[Piece]:
    """Split a list at its items: at markers indented less than the text of the item before."""
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
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        text = "\n".join(lines[start:end]).rstrip()
        joint = "\n" if lines[start - 1].strip() else PARAGRAPH
        yield _part(piece, "item", text, piece.line_start + start, joint)


def _item(piece: Piece, profile: ChunkProfile) -> Iterator[Piece]:
    """Split a list item at its blocks; the first keeps the marker, the indent is removed."""
    marker = _MARKER.match(piece.text)
    if not marker:
        yield from _sentences(piece, profile)
        return
    width = marker.end()
    first, *rest = piece.text.split("\n")
    indents = (min(width, len(line) - len(line.lstrip())) for line in rest)
    inner = [first[width:], *(line[indent:] for line, indent in zip(rest, indents, strict=True))]
    blocks = parse_blocks("\n".join(inner), piece.line_start)
    if len(blocks) < 2:
        yield from _sentences(replace(piece, kind="text"), profile)
        return
    for index, block in enumerate(blocks):
        text = block.text if index else marker[0] + block.text
        part = _part(piece, block.type, text, block.line_start)
        yield replace(part, line_end=block.line_end)


def _code(piece: Piece, profile: ChunkProfile) -> Iterator[Piece]:
    """Split code that alone exceeds the maximum at lines, preferably at a nearby empty one."""
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
    if room < profile.maximum // 2:  # a fence as long as a page
        yield from _lines(piece, profile)
        return
    for start, group in _line_groups(lines, min(room, profile.preferred), room):
        part = _part(piece, "code", opener + "\n".join(group) + closer, first_line + start)
        yield replace(part, line_end=min(part.line_start + len(group) - 1, piece.line_end))


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
    """Split a line longer than `room` anywhere; a minified file has no better place."""
    step = -(-len(line) // -(-len(line) // room)) if len(line) > room else room
    return [line[start : start + step] for start in range(0, max(len(line), 1), step)]
