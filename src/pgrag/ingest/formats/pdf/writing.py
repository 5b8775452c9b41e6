"""Write the lines and tables of a PDF as Markdown."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pgrag.ingest.formats.escaping import escape, escape_start, fence, heading, table_lines
from pgrag.ingest.formats.pdf.headings import Heading
from pgrag.ingest.formats.pdf.lines import Line, Table

#: The mark of an item; symbol fonts keep their bullets in the private use area.
_BULLET = re.compile(r"(?:[•◦▪▫●○■□‣⁃∙·–—*\ue000-\uf8ff]|-)\s+(?=\S)")
_ORDERED = re.compile(r"\(?(\d{1,3})[.)]\s+(?=\S)")
_SENTENCE_END = (".", ":", "!", "?")
_HYPHEN = re.compile(r"[^\W\d_][-\u2010]$|\u00ad$")
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_AROUND_WORDS = ".,;:!?()[]\"'“”‘’"


@dataclass(slots=True)
class _Block:
    """A paragraph, a list item or code; the lines of code keep their spaces."""

    kind: str
    lines: list[Line] = field(default_factory=list)
    marker: str = ""
    depth: int = 0


def compounds_of(lines: Iterable[Line]) -> frozenset[str]:
    """Return the words that are written with a hyphen within a line."""
    return frozenset(
        match[0].casefold() for line in lines for match in _COMPOUND.finditer(line.text)
    )


def write_page(
    elements: Sequence[Line | Table],
    headings: Mapping[int, Sequence[Heading]],
    last: Sequence[Heading],
    compounds: Collection[str],
) -> Iterator[tuple[str, str]]:
    """Yield the kind and the Markdown of each block. `headings` are keyed by the `id()` of the line
    at which they stand, and replace their lines; those in `last` follow the last line. A word among
    the `compounds` keeps its hyphen at the end of a line.
    """
    skipped = {id(line) for group in headings.values() for each in group for line in each.lines}
    run: list[Line] = []
    for element in elements:
        here = headings.get(id(element), ())
        if isinstance(element, Table) or here or id(element) in skipped:
            yield from _blocks(run, compounds)
            run = []
        for each in here:
            yield "heading", _heading(each)
            yield from _notes(each.lines, compounds)
        if isinstance(element, Table):
            rows = [[escape(" ".join(cell.split())) for cell in row] for row in element.rows]
            yield "table", "\n".join(table_lines(rows))
        elif id(element) not in skipped:
            run.append(element)
    yield from _blocks(run, compounds)
    for each in last:
        yield "heading", _heading(each)


def _blocks(lines: Sequence[Line], compounds: Collection[str]) -> Iterator[tuple[str, str]]:
    blocks: list[_Block] = []
    for line in lines:
        last = blocks[-1] if blocks else None
        if last and _continues(last, line):
            last.lines.append(line)
        else:
            blocks.append(_started(line, blocks))
    for block in blocks:
        text = escape(_joined((line.text for line in block.lines), compounds))
        if block.kind == "code":
            yield "code", _code(block.lines)
        elif block.kind == "item":
            yield "item", f"{'  ' * block.depth}{block.marker} {text}"
        else:
            yield "paragraph", escape_start(text)
        yield from _notes(block.lines, compounds)


def _notes(lines: Iterable[Line], compounds: Collection[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        for note in line.notes:
            text = _joined((each.text for each in note), compounds)
            yield "note", escape_start(escape(text))


def _heading(each: Heading) -> str:
    return heading(each.level, escape(each.text), f"page={each.page}")


def _started(line: Line, blocks: Sequence[_Block]) -> _Block:
    if line.is_code:
        return _Block("code", [line])
    if match := _BULLET.match(line.text) or _ORDERED.match(line.text):
        marker = f"{match[1]}." if match.re is _ORDERED else "-"
        line.text = line.text[match.end() :]
        return _Block("item", [line], marker, _depth(line, blocks))
    return _Block("text", [line])


def _depth(line: Line, blocks: Sequence[_Block]) -> int:
    depths: list[float] = []
    for block in reversed(blocks):
        if block.kind != "item":
            break
        x = block.lines[0].x
        if x < (depths[-1] if depths else line.x) - 2:
            depths.append(x)
    return min(len(depths), 3)


def _continues(block: _Block, line: Line) -> bool:
    """Whether a line belongs to the block that the line before it ended."""
    last = block.lines[-1]
    same_page = last.page == line.page
    gap = line.y - last.bottom
    if block.kind == "code":
        return line.is_code and (not same_page or gap < 2.5 * last.size)
    is_below = same_page and gap > -last.size
    if line.is_code and not (is_below and _is_full(block, last, line)):
        return False
    if _BULLET.match(line.text) or (_ORDERED.match(line.text) and line.is_list_item):
        return False
    if not is_below:  # at the top of the next page or column
        return line.text[:1].islower() and not last.text.endswith(_SENTENCE_END)
    is_near = gap <= 0.75 * last.size and abs(line.size - last.size) <= 0.15 * last.size
    if block.kind == "item":
        return is_near and line.x >= block.lines[0].x - 1
    starts_item = line.is_list_item and line.block != last.block
    return is_near and not starts_item and not _starts_paragraph(block, last, line)


def _starts_paragraph(block: _Block, last: Line, line: Line) -> bool:
    """Whether the indent of a line, or the short line before it, shows a new paragraph."""
    is_indented = len(block.lines) > 1 and line.x - last.x > 0.8 * line.size
    right = max(each.right for each in block.lines)
    is_short = last.right < right - 0.3 * (right - last.x)
    return is_indented or (is_short and last.text.endswith(_SENTENCE_END))


def _is_full(block: _Block, last: Line, line: Line) -> bool:
    """Whether the last line ends where the block ends, so that its sentence goes on below."""
    return block.kind == "text" and last.right > line.right - line.size and line.x <= last.x + 1


def _joined(texts: Iterable[str], compounds: Collection[str]) -> str:
    """Join the lines of a paragraph; a word that was cut at a line's end is made whole, unless the
    document writes it with a hyphen elsewhere.
    """
    joined = ""
    for text in texts:
        if _HYPHEN.search(joined) and text[:1].islower():
            word = joined.rsplit(None, 1)[-1] + text.split(None, 1)[0]
            is_compound = word.strip(_AROUND_WORDS).casefold() in compounds
            joined = (joined if is_compound else joined[:-1]) + text
        else:
            joined = f"{joined} {text}" if joined else text
    return joined


def _code(lines: Sequence[Line]) -> str:
    left = min(line.x for line in lines)
    advances = [
        piece.width / len(piece.text) for line in lines for piece in line.pieces if piece.text
    ]
    advance = sorted(advances)[len(advances) // 2] or 1.0
    pitch = min(
        (following.y - line.y for line, following in pairwise(lines) if following.y - line.y > 1),
        default=0.0,
    )
    written: list[str] = []
    previous: Line | None = None
    for line in lines:
        if previous and previous.page == line.page and line.y - previous.y > 1.7 * pitch > 0:
            written.append("")
        written.append(" " * round((line.x - left) / advance) + line.text)
        previous = line
    return "\n".join(fence("\n".join(written)))
