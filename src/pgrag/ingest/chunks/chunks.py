"""The rows of a page in reading order: page summary, sections, and the chunks of their text."""

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from pgrag.ingest.chunks.drafts import Draft
from pgrag.ingest.chunks.packing import pack
from pgrag.ingest.chunks.semantic import Similarities
from pgrag.ingest.chunks.summaries import page_summary, section_summary
from pgrag.ingest.text.sentences import sentence_spans
from pgrag.ingest.values import Chunk, ChunkProfile, OverlapStrategy, Section

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
    """Return the chunks of a page: level 0 first, each section's level 1 before its level 2. `path`
    is the page's hierarchical path; top headings that equal its last part are not repeated.
    `description` is the author's summary, `last_line` the page's last line. A profile that cuts by
    meaning needs `similarities`. `overlap_size` limits the end of the previous chunk that a chunk
    repeats, in characters.
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
    """Decide which row represents each section: its only chunk, else the section's row. A section's
    row covers nothing if its subtree has no chunk, if its only chunk covers it, or if the section
    is the whole page: its summary would nearly equal the page's.
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
    """Return the fields of a row that derive from the heading of its section, if there is one."""
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
    """Return the last words of a text, at most `size` characters, on one line. By `sentences`,
    whole ones; the last words if the last sentence alone is longer.
    """
    tail = text[-size:] if size else ""
    if strategy == "sentences":
        starts = (start for start, _ in sentence_spans(text) if start >= len(text) - size)
        if (start := next(starts, None)) is not None:
            return " ".join(text[start:].split())
    if len(text) > size and not text[-size - 1].isspace() and not tail[:1].isspace():
        _, _, rest = tail.replace("\n", " ").partition(" ")
        tail = rest or tail
    return " ".join(tail.split())
