"""What indexing would write of a page, for a dry run."""

from __future__ import annotations

from dataclasses import dataclass

from pgrag.models import Page


@dataclass(frozen=True, slots=True)
class PlannedDocument:
    """A chunk in short; `characters` is the length of its content, `line_end` is inclusive.

    One that is not searched has its text in another one, and is not counted as a document.
    """

    level: int
    path: tuple[str, ...]
    line_start: int
    line_end: int
    characters: int
    is_searched: bool


@dataclass(frozen=True, slots=True)
class PlannedEdge:
    """An edge as it is written; where it leads is known only when all pages are stored."""

    line: int
    kind: str
    rule: str
    confidence: float
    target: str
    fragment: str | None


@dataclass(frozen=True, slots=True)
class PlannedPage:
    """The chunks and edges of a page that would be written, in the order of the source."""

    title: str
    documents: tuple[PlannedDocument, ...]
    edges: tuple[PlannedEdge, ...]

    @property
    def searched(self) -> int:
        """The number of its documents, as a run counts what it has written."""
        return sum(document.is_searched for document in self.documents)


def plan_page(page: Page) -> PlannedPage:
    """Return what would be written of a page."""
    return PlannedPage(
        title=page.title,
        documents=tuple(
            PlannedDocument(
                level=chunk.level,
                path=chunk.path,
                line_start=chunk.line_start,
                line_end=chunk.line_end,
                characters=len(chunk.content),
                is_searched=chunk.covers > 0,
            )
            for chunk in page.chunks
        ),
        edges=tuple(
            PlannedEdge(
                line=edge.line,
                kind=edge.kind,
                rule=edge.rule,
                confidence=edge.confidence,
                target=edge.target,
                fragment=edge.fragment,
            )
            for edge in page.edges
        ),
    )
