"""A chunk in the making: pieces, the section they belong to, and the text they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgrag.ingest.pieces import PARAGRAPH, Piece
from pgrag.models import Section


@dataclass(frozen=True, slots=True)
class Draft:
    """The pieces of a chunk, the section it belongs to (None: the page), and its text."""

    section: int | None
    pieces: tuple[Piece, ...]
    text: str


class Drafter:
    """Makes the drafts of one page."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._sections = sections

    def draft(self, pieces: Sequence[Piece]) -> Draft:
        """Join pieces that follow each other.

        The draft belongs to the lowest section that holds them all. The headings of lower
        sections that begin in it are part of its text.
        """
        section: int | None = pieces[0].section
        for piece in pieces:
            section = self._common(section, piece.section)
        depth = self._depth(section)
        parts: list[str] = []
        for piece in pieces:
            headings = [
                f"{'#' * self._sections[index].level} {self._sections[index].heading}"
                for index in piece.opens
                if self._sections[index].depth > depth
            ]
            if parts:
                parts.append(PARAGRAPH if headings else piece.joint)
            parts.append(PARAGRAPH.join((*headings, piece.text)))
        return Draft(section, tuple(pieces), "".join(parts))

    def first_line(self, draft: Draft) -> int:
        """Return the line of the source on which a draft begins, its first heading included."""
        first = draft.pieces[0]
        depth = self._depth(draft.section)
        lines = [
            self._sections[index].line_start
            for index in first.opens
            if self._sections[index].depth > depth
        ]
        return min([*lines, first.line_start])

    def _depth(self, section: int | None) -> int:
        return -1 if section is None else self._sections[section].depth

    def _common(self, one: int | None, other: int | None) -> int | None:
        """Return the lowest section that holds both, None for the page itself."""
        while one != other:
            if one is not None and self._depth(one) >= self._depth(other):
                one = self._sections[one].parent
            elif other is not None:
                other = self._sections[other].parent
        return one
