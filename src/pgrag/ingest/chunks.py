"""The rows of a page: its summary, its sections, and the chunks of their text, in reading order."""

from __future__ import annotations

from collections.abc import Sequence

from pgrag.ingest.drafts import Draft, Drafter
from pgrag.ingest.packing import pack
from pgrag.ingest.semantic import Similarities
from pgrag.ingest.summaries import page_summary, section_summary
from pgrag.models import Chunk, ChunkProfile, Section

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
) -> tuple[Chunk, ...]:
    """Return the chunks of a page: level 0 first, each section's level 1 before its level 2.

    `path` is the page's hierarchical path, which begins the path of every chunk; a first heading
    that repeats its last part is not repeated. `description` is the summary that the author
    wrote, if any; `last_line` the page's last line. `similarities` is for profiles that cut by
    meaning.
    """
    return _Rows(sections, title, path, profile, similarities).make(description, last_line)


class _Rows:
    def __init__(
        self,
        sections: Sequence[Section],
        title: str,
        path: tuple[str, ...],
        profile: ChunkProfile,
        similarities: Similarities | None,
    ) -> None:
        self._sections = sections
        self._title = title
        self._path = path
        self._profile = profile
        self._drafter = Drafter(sections)
        self._drafts = pack(sections, self._drafter, profile, similarities)
        self._section_covers, self._draft_covers = self._coverage()
        self._row_of_section: dict[int | None, int] = {}
        self._overlap = ""
        self._rows: list[Chunk] = []

    def make(self, description: str | None, last_line: int) -> tuple[Chunk, ...]:
        self._add_page(description, last_line)
        waiting = list(zip(self._drafts, self._draft_covers, strict=True))[::-1]
        for index, section in enumerate(self._sections):
            self._row_of_section[index] = 0
            if section.level:
                self._add_section(index)
            while waiting and waiting[-1][0].pieces[0].section == index:
                self._add_draft(*waiting.pop())
        return tuple(self._rows)

    def _coverage(self) -> tuple[list[int], list[int]]:
        """Decide what stands for each section: its one chunk, or, if it has several, its row.

        A section counts the chunks that hold text of its subtree. It covers nothing if there is
        none, or if the only one covers it.
        """
        counts = [0] * len(self._sections)
        seen = [-1] * len(self._sections)
        held: list[list[int]] = []
        for number, draft in enumerate(self._drafts):
            held.append([])
            for piece in draft.pieces:
                above: int | None = piece.section
                while above is not None and seen[above] != number:
                    seen[above] = number
                    counts[above] += 1
                    held[-1].append(above)
                    above = self._sections[above].parent
        only_chunk = COVERS_PAGE | COVERS_SECTION if len(self._drafts) == 1 else 0
        drafts_cover = [
            COVERS_TEXT
            | only_chunk
            | (COVERS_SECTION if any(counts[index] == 1 for index in indexes) else 0)
            for indexes in held
        ]
        sections_cover = [
            COVERS_SECTION if count > 1 and not self._is_whole_page(index, count) else 0
            for index, count in enumerate(counts)
        ]
        return sections_cover, drafts_cover

    def _is_whole_page(self, index: int, count: int) -> bool:
        """Tell a heading that repeats the page's title above all its text: no section of its own.

        Its summary is nearly that of the page.
        """
        section = self._sections[index]
        return count == len(self._drafts) and self._path[-1:] == section.path

    def _add_page(self, description: str | None, last_line: int) -> None:
        covers = COVERS_PAGE if len(self._drafts) > 1 else 0
        if not self._drafts:
            # the summary is all there is to find of a page without text
            covers = COVERS_PAGE | COVERS_SECTION | COVERS_TEXT
        self._row_of_section[None] = 0
        self._rows.append(
            Chunk(
                level=0,
                covers=covers,
                sort_order=0,
                content=page_summary(self._title, description, self._sections),
                path=self._path,
                depth=0,
                heading="",
                heading_level=0,
                root_section="",
                position="intro",
                types=("text",),
                line_start=1,
                line_end=last_line,
                is_summary=True,
            )
        )

    def _add_section(self, index: int) -> None:
        section = self._sections[index]
        self._row_of_section[index] = len(self._rows)
        self._rows.append(
            Chunk(
                level=1,
                covers=self._section_covers[index],
                sort_order=len(self._rows),
                content=section_summary(self._sections, index),
                path=self._full_path(section),
                depth=section.depth,
                heading=section.heading,
                heading_level=section.level,
                root_section=self._sections[section.root].heading,
                position=section.position,
                types=("text",),
                line_start=section.line_start,
                line_end=self._sections[section.last].line_end,
                parent=self._row_of_section[section.parent],
                anchor=section.anchor,
                is_summary=True,
            )
        )

    def _add_draft(self, draft: Draft, covers: int) -> None:
        first, last = draft.pieces[0], draft.pieces[-1]
        section = self._sections[first.section if draft.section is None else draft.section]
        has_heading = draft.section is not None and section.level > 0
        self._rows.append(
            Chunk(
                level=2,
                covers=covers,
                sort_order=len(self._rows),
                content=draft.text,
                path=self._full_path(section) if has_heading else self._path,
                depth=section.depth if has_heading else 0,
                heading=section.heading if has_heading else "",
                heading_level=section.level if has_heading else 0,
                root_section=self._sections[section.root].heading if has_heading else "",
                position=section.position,
                types=tuple(dict.fromkeys(kind for piece in draft.pieces for kind in piece.types)),
                line_start=self._drafter.first_line(draft),
                line_end=max(last.line_end, first.line_start),
                parent=self._row_of_section[draft.section],
                overlap=self._overlap,
                anchor=section.anchor if has_heading else "",
            )
        )
        self._overlap = _tail(draft.text, self._profile.overlap)

    def _full_path(self, section: Section) -> tuple[str, ...]:
        headings = section.path
        if self._path and headings and _same(headings[0], self._path[-1]):
            headings = headings[1:]
        return self._path + headings


def _same(one: str, other: str) -> bool:
    return one.casefold().split() == other.casefold().split()


def _tail(text: str, size: int) -> str:
    """Return the last words of a text, at most `size` characters, in one line."""
    tail = text[-size:] if size else ""
    if len(text) > size and not text[-size - 1].isspace() and not tail[:1].isspace():
        _, _, rest = tail.replace("\n", " ").partition(" ")
        tail = rest or tail
    return " ".join(tail.split())
