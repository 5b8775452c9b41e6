"""The links between pages."""

from collections.abc import Sequence
from typing import Literal

from pgrag.client.part import Part
from pgrag.ground.values.graph import Backlink, Edge, Link, Neighbour, PathStep, RelatedPage

Direction = Literal["out", "in", "both"]


class Graph(Part):
    """Follows links, relations and tags."""

    def backlinks(self, page_id: int, *, kinds: Sequence[str] | None = None) -> list[Backlink]:
        """The links from other pages to this page, the strongest first."""
        return self._rows(Backlink, "backlinks", page_id=page_id, kinds=_list(kinds))

    def related_pages(self, page_id: int, *, top_k: int = 10) -> list[RelatedPage]:
        """The pages most closely related to a page, and why."""
        return self._rows(RelatedPage, "related_pages", page_id=page_id, top_k=top_k)

    def neighbourhood(
        self,
        page_id: int,
        *,
        depth: int = 1,
        kinds: Sequence[str] | None = None,
        direction: Direction = "both",
    ) -> list[Neighbour]:
        """The pages within `depth` links of a page."""
        return self._rows(
            Neighbour, "neighbourhood", page_id=page_id, depth=depth, kinds=_list(kinds),
            direction=direction,
        )  # fmt: skip

    def shortest_path(
        self, from_page: int, to_page: int, *, direction: Direction = "out"
    ) -> list[PathStep]:
        """A shortest path of links from one page to another; empty if there is none."""
        return self._rows(
            PathStep, "shortest_path", from_page=from_page, to_page=to_page, direction=direction
        )

    def edges(
        self, library: str, version: str | None = None, *, page_id: int | None = None
    ) -> list[Edge]:
        """The links, relations and tags of a version, or of one page of it."""
        return self._rows(Edge, "edges", library=library, version=version, page_id=page_id)

    def links(
        self, library: str, version: str | None = None, *, state: str | None = None
    ) -> list[Link]:
        """Links with their state, such as `broken`; `orphan` lists pages without any link."""
        return self._rows(Link, "links", library=library, version=version, state=state)


def _list(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)
