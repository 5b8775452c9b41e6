"""The rows of a page in reading order: page summary, sections, and the chunks of their text."""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from pgrag.ingest.chunks.drafts import Draft, join, merge_small
from pgrag.ingest.chunks.pieces import Piece, cut, introduces
from pgrag.ingest.chunks.semantic import Similarities, by_meaning
from pgrag.ingest.text.inline import plain
from pgrag.ingest.text.sentences import sentence_spans, shortened
from pgrag.ingest.values import Block, Chunk, ChunkProfile, OverlapStrategy, Section

PAGE_LEAD = 400
SECTION_LEAD = 300
SECTION_SUMMARY = 500
PAGE_SUMMARY = 1200
_PROSE = frozenset({"text", "callout", "quote", "list", "html"})
_MARK = re.compile(
    r"[\s>]*(?:\[![\w-]+\][ \t]*|(?:(?P<item>(?:[-*+]|\d{1,9}[.)])(?:\s+:)?)\s+)?(?:#{1,6}\s+)?)"
)
_CUT_LINK = re.compile(r"!?\[{1,2}[^\[\]]*(?:\]\([^()]*)?$")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")


def page_summary(title: str, description: str | None, sections: Sequence[Section]) -> str:
    """Return the description, else the first sentences, and the headings as a list, in 1200
    characters.
    """
    lead = _shortened(plain(description), PAGE_LEAD) if description else ""
    lead = lead or _lead((block for section in sections for block in section.blocks), PAGE_LEAD)
    lead = lead or title
    shown = [section for section in sections if section.level and section.heading != title]
    top = min((section.depth for section in shown), default=1)
    lines = (f"{'  ' * (section.depth - top)}- {section.heading}" for section in shown)
    return _with_lines(lead, lines, PAGE_SUMMARY - len(lead) - 2)


def section_summary(sections: Sequence[Section], index: int) -> str:
    """Return a section's first sentences and its children, else its heading."""
    section = sections[index]
    lead = _lead(section.blocks, SECTION_LEAD if section.children else SECTION_SUMMARY)
    lines = (
        f"- {sections[child].heading}" + (f": {first}" if first else "")
        for child in section.children
        for first in [_lead(sections[child].blocks, SECTION_LEAD // 2)]
    )
    return _with_lines(lead, lines, SECTION_SUMMARY - len(lead)) or section.heading


def _with_lines(lead: str, lines: Iterable[str], room: int) -> str:
    written = [*lines]
    sizes = accumulate(len(line) + 1 for line in written)
    fitting = (line for line, size in zip(written, sizes, strict=True) if size <= room)
    return "\n\n".join(filter(None, (lead, "\n".join(fitting))))


def _lead(blocks: Iterable[Block], limit: int) -> str:
    words: list[str] = []
    size = 0
    other = ""
    for block in blocks:
        if block.type not in _PROSE:
            other = other or block.text
            continue
        text = plain(_unmarked(_beginning(block.text, 2 * limit)))
        if text:
            words.append(text)
            size += len(text) + 1
        if size > limit:
            break
    return _shortened(" ".join(words) or plain(_unmarked(_beginning(other, 2 * limit))), limit)


def _beginning(text: str, size: int) -> str:
    return text if len(text) <= size else _CUT_LINK.sub("", text[:size])


def _unmarked(text: str) -> str:
    """Remove the marks of lists, quotes and fences; end list items with a semicolon."""
    lines: list[str] = []
    for line in text.split("\n"):
        match = _MARK.match(line)
        if lines and match and match["item"] and lines[-1][-1] not in ".!?:;,…":
            lines[-1] += ";"
        words = line[match.end() :] if match else line
        if words.strip() and not _FENCE.match(words):
            lines.append(words.strip())
    return "\n".join(lines)


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else shortened(text, limit, closing="\"')”»")


_BOLD_LINE = re.compile(r"\*\*[^*\n]+\*\*")


def pack(
    sections: Sequence[Section], profile: ChunkProfile, similarities: Similarities | None = None
) -> list[Draft]:
    """Return the drafts of a page in reading order, none across a heading; fragments are merged."""
    pieces = [
        [piece for block in section.blocks for piece in cut(block, index, profile)]
        for index, section in enumerate(sections)
    ]
    grouped: Iterable[Iterable[list[Piece]]] = (_groups(section, profile) for section in pieces)
    if profile.by_meaning:
        if similarities is None:
            raise ValueError(f"the profile {profile.name} needs similarities of texts")
        grouped = by_meaning(pieces, profile, similarities)
    return [draft for groups in grouped for draft in merge_small(list(map(join, groups)), profile)]


def _groups(pieces: Sequence[Piece], profile: ChunkProfile) -> Iterator[list[Piece]]:
    """Yield groups of pieces, each as close to the preferred size as its pieces allow."""
    group: list[Piece] = []
    size = 0
    for piece in pieces:
        grown = size + len(piece.joint) + len(piece.text)
        if group and not _fits(size, grown, profile):
            lead_in = _lead_in(group, piece, profile)
            yield group
            group = lead_in
            grown = _size(lead_in) + len(piece.joint) + len(piece.text)
        size = grown if group else len(piece.text)
        group.append(piece)
    if group:
        yield group


def _size(group: Sequence[Piece]) -> int:
    return sum(len(piece.joint) + len(piece.text) for piece in group)


def _fits(size: int, grown: int, profile: ChunkProfile) -> bool:
    """Whether a group takes one more piece, growing from `size` to `grown`."""
    if grown <= profile.preferred:
        return True
    is_nearer = grown - profile.preferred <= profile.preferred - size
    return grown <= profile.maximum and (is_nearer or size < profile.minimum)


def _lead_in(group: list[Piece], following: Piece, profile: ChunkProfile) -> list[Piece]:
    """Move the line that introduces the following piece from a full group to the next."""
    last = group[-1]
    if (
        (_BOLD_LINE.fullmatch(last.text) or introduces(last, following))
        and _size([last, following]) <= profile.maximum
        and _size(group[:-1]) >= profile.minimum
    ):
        return [group.pop()]
    return []


COVERS_PAGE, COVERS_SECTION, COVERS_TEXT = 1, 2, 4


def make_chunks(
    sections: Sequence[Section],
    *,
    title: str,
    path: tuple[str, ...],
    description: str | None,
    last_line: int,
    profile: ChunkProfile,
    similarities: Similarities | None = None,
    overlap_size: int = 50,
    overlap_strategy: OverlapStrategy = "words",
) -> tuple[Chunk, ...]:
    """Return the chunks of a page: level 0 first, each section's level 1 before its level 2. Top
    headings that equal the last part of the `path` are not repeated. `overlap_size` counts the
    characters of the chunk before that a chunk repeats.
    """
    drafts = pack(sections, profile, similarities)
    sections_cover, drafts_cover = _coverage(sections, drafts, path)
    covers = 0 if len(drafts) == 1 else COVERS_PAGE
    if not drafts:
        # a page without text can only be found by its summary
        covers |= COVERS_SECTION | COVERS_TEXT
    rows = [
        Chunk(
            level=0,
            covers=covers,
            sort_order=0,
            content=page_summary(title, description, sections),
            path=path,
            line_start=1,
            line_end=last_line,
            is_summary=True,
        )
    ]
    row_of_section: dict[int | None, int] = {None: 0}
    waiting = deque(zip(drafts, drafts_cover, strict=True))
    overlap = ""
    for index, section in enumerate(sections):
        row_of_section[index] = len(rows) if section.level else 0
        if section.level:
            rows.append(
                Chunk(
                    level=1,
                    covers=sections_cover[index],
                    sort_order=len(rows),
                    content=section_summary(sections, index),
                    line_start=section.line_start,
                    line_end=sections[section.last].line_end,
                    position=section.position,
                    parent=row_of_section[section.parent],
                    is_summary=True,
                    **_heading(sections, index, path),
                )
            )
        while waiting and waiting[0][0].pieces[0].section == index:
            draft, covers = waiting.popleft()
            types = (kind for piece in draft.pieces for kind in piece.types)
            rows.append(
                Chunk(
                    level=2,
                    covers=covers,
                    sort_order=len(rows),
                    content=draft.text,
                    line_start=draft.pieces[0].line_start,
                    line_end=max(draft.pieces[-1].line_end, draft.pieces[0].line_start),
                    position=section.position,
                    types=tuple(dict.fromkeys(types)),
                    parent=row_of_section[index],
                    overlap=overlap,
                    **_heading(sections, index, path),
                )
            )
            overlap = _tail(draft.text, overlap_size, overlap_strategy)
    return tuple(rows)


def _coverage(
    sections: Sequence[Section], drafts: Sequence[Draft], path: tuple[str, ...]
) -> tuple[list[int], list[int]]:
    """Decide which row represents each section: its only chunk, else the section's row, unless that
    would repeat the page's.
    """
    homes = [draft.pieces[0].section for draft in drafts]
    counts: Counter[int | None] = Counter(homes)
    for index in range(len(sections) - 1, -1, -1):
        counts[sections[index].parent] += counts[index]
    whole_page = COVERS_PAGE | COVERS_SECTION if len(drafts) == 1 else 0
    drafts_cover = [
        COVERS_TEXT | whole_page | (COVERS_SECTION if counts[home] == 1 else 0) for home in homes
    ]
    sections_cover = [
        COVERS_SECTION
        if counts[index] > 1 and not (counts[index] == len(drafts) and path[-1:] == section.path)
        else 0
        for index, section in enumerate(sections)
    ]
    return sections_cover, drafts_cover


def _heading(sections: Sequence[Section], index: int, path: tuple[str, ...]) -> dict[str, Any]:
    section = sections[index]
    if not section.level:
        return {"path": path}
    headings = section.path
    while path and headings and same_words(headings[0], path[-1]):
        headings = headings[1:]
    return {
        "path": path + headings,
        "depth": section.depth,
        "heading": section.heading,
        "heading_level": section.level,
        "root_section": sections[section.root].heading,
        "anchor": section.anchor,
    }


def same_words(one: str, other: str) -> bool:
    """Whether two headings differ in case and spaces alone."""
    return one.casefold().split() == other.casefold().split()


def _tail(text: str, size: int, strategy: OverlapStrategy) -> str:
    """Return the last words of a text on one line; by `sentences`, whole ones if one fits."""
    tail = text[-size:] if size else ""
    if strategy == "sentences":
        starts = (start for start, _ in sentence_spans(text) if start >= len(text) - size)
        if (start := next(starts, None)) is not None:
            return " ".join(text[start:].split())
    if len(text) > size and not text[-size - 1].isspace() and not tail[:1].isspace():
        _, _, rest = tail.replace("\n", " ").partition(" ")
        tail = rest or tail
    return " ".join(tail.split())
