"""Libraries, versions, pages, passages, and the links between pages."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from pgrag.client.part import Part
from pgrag.ground.notices import collected_notices
from pgrag.ground.values import libraries as stored
from pgrag.ground.values.changes import PageVersion, SectionVersion, VersionChanges
from pgrag.ground.values.graph import Backlink, Edge, Link, Neighbour, PathStep, RelatedPage
from pgrag.ground.values.passages import Passage
from pgrag.ground.values.properties import PageQueryResult, PageQueryRow, Property
from pgrag.ground.values.rendered import RenderedPage
from pgrag.ground.values.searches import PinnedVersion, Resolution
from pgrag.project import read
from pgrag.rendering.page import rendered_page
from pgrag.search.changes import compare_versions, section_history
from pgrag.search.result import substitutions

Direction = Literal["out", "in", "both"]


class Reading(Part):
    """Reads what is indexed, and follows its links.

    Pages and passages are given by their ids, or by names and keys: `guide.md`, `guide.md#c3`,
    `handbook@2.0:guide.md` (see `pgrag.page_id`).
    """

    def libraries(self) -> list[stored.Library]:
        """Every library by name."""
        return self._rows(stored.Library, "libraries")

    def find_libraries(self, query: str, *, top_k: int = 10) -> list[stored.FoundLibrary]:
        """The libraries that may answer a query, the best first; none without a common word."""
        return self._rows(stored.FoundLibrary, "find_libraries", query=query, top_k=top_k)

    def versions(self, library: str) -> list[stored.Version]:
        """The versions of a library, the newest release first."""
        rows = self._call("library_versions", library=library)
        return [stored.Version.from_row({"library": library, **row}) for row in rows]

    def resolve_version(self, library: str, version: str | None = None) -> Resolution:
        """The version that a label, a range or None resolves to, and why."""
        [row] = self._call("resolve_version", library=library, wanted=version)
        return Resolution.from_row({"library": library, **row})

    def pinned_versions(self, project: str | Path) -> list[PinnedVersion]:
        """The libraries that a project pins, by its folder or one of its lock files."""
        dependencies = read(project).dependencies
        return self._rows(PinnedVersion, "pinned_versions", dependencies=dependencies)

    def compare_versions(
        self,
        library: str,
        from_version: str,
        to_version: str | None = None,
        *,
        page: str | None = None,
        diff: bool = False,
    ) -> VersionChanges:
        """The pages and sections that were added, removed, changed or moved between versions.

        `page` is the key of the only page to compare; `diff` adds unified diffs.
        """
        changes = compare_versions(
            self._app.database, library, from_version, to_version, page=page, diff=diff
        )
        return VersionChanges.from_row(changes)

    def section_history(
        self, document_id: int | str, *, diff: bool = False
    ) -> list[SectionVersion]:
        """A passage's section in each version that has it, the oldest first; `diff` adds its text
        and unified diffs.
        """
        rows = section_history(self._app.database, document_id, diff=diff)
        return [SectionVersion.from_row(row) for row in rows]

    def pages(
        self,
        library: str,
        version: str | None = None,
        *,
        top_k: int = 100,
        after: str | None = None,
        name: str | None = None,
        warned: bool = False,
    ) -> list[stored.PageSummary]:
        """The pages of a version in the order of their keys: at most `top_k` after `after`.

        `name` is a part of their key or title; `warned` ones have warnings.
        """
        return self._rows(
            stored.PageSummary, "pages", library=library, version=version, top_k=top_k,
            after=after, name=name, warned=warned,
        )  # fmt: skip

    def reading_state(self, library: str, version: str | None = None) -> list[stored.ReadingState]:
        """Warnings, lost words and broken links of each version, or of one; the newest first."""
        return self._rows(stored.ReadingState, "reading_state", library=library, wanted=version)

    def page(
        self, page: int | str, library: str | None = None, version: str | None = None
    ) -> stored.Page:
        """One page by its id, key, name, title, alias or url; without a library, in all."""
        return self._row(stored.Page, "page", page_id=page, library=library, version=version)

    def find_page(self, page: str, library: str, version: str | None = None) -> stored.PageName:
        """The page with a key, name, title, alias or url; raises if several match."""
        return self._row(stored.PageName, "find_page", library=library, page=page, version=version)

    def outline(self, page_id: int | str) -> list[stored.OutlineEntry]:
        """The page and its sections in reading order."""
        return self._rows(stored.OutlineEntry, "outline", page_id=page_id)

    def page_versions(self, page_id: int | str) -> list[PageVersion]:
        """The page in each version that has it, its own included, the newest first."""
        return self._rows(PageVersion, "page_versions", page_id=page_id)

    def rendered_page(
        self,
        page_id: int | str,
        *,
        document_id: int | str | None = None,
        query: str | None = None,
        prefix: bool = False,
        line: int | None = None,
    ) -> RenderedPage:
        """A page as sanitised HTML, with a passage and the words of a query marked; of a long page
        the part that has the passage, or that begins on `line`.
        """
        row = rendered_page(
            self._app.database, page_id, document=document_id, query=query, prefix=prefix, line=line
        )
        return RenderedPage.from_row(row)

    def passage(self, document_id: int | str) -> Passage:
        """One passage."""
        return self._row(Passage, "document", document_id=document_id)

    def find_passage(self, chunk_key: str, library: str, version: str | None = None) -> Passage:
        """One passage by the `chunk_key` of a hit, such as guide/install.md#c3."""
        return self._row(
            Passage, "find_document", library=library, chunk_key=chunk_key, version=version
        )

    def related_sections(
        self,
        document_ids: Sequence[int | str],
        top_k: int = 5,
        *,
        query: str | None = None,
        filters: Mapping[str, Any] | None = None,
        exclude: Sequence[str] | None = None,
    ) -> list[Passage]:
        """Sections to read after these passages, best first; filters as in `search`."""
        return self._rows(
            Passage, "related_sections", document_ids=[*map(str, document_ids)], top_k=top_k,
            query=query, filters=None if filters is None else dict(filters),
            exclude=_list(exclude),
        )  # fmt: skip

    def parent(self, document_id: int | str) -> Passage | None:
        """The section above a paragraph, the section or page above a section; None at the top."""
        return next(iter(self._rows(Passage, "parent", document_id=document_id)), None)

    def children(self, document_id: int | str) -> list[Passage]:
        """The passages one level below, in reading order."""
        return self._rows(Passage, "children", document_id=document_id)

    def siblings(
        self, document_id: int | str, *, before: int = 1000, after: int = 1000
    ) -> list[Passage]:
        """The passages of the same level under the same parent, in reading order."""
        return self._rows(Passage, "siblings", document_id=document_id, before=before, after=after)

    def ancestors(self, document_id: int | str) -> list[Passage]:
        """The passages above, the nearest first."""
        return self._rows(Passage, "ancestors", document_id=document_id)

    def query_pages(self, query: str, library: str, version: str | None = None) -> PageQueryResult:
        """Query pages or tasks by their properties, in a subset of Dataview's language."""
        resolved = self.resolve_version(library, version)
        with collected_notices() as notices:
            rows = self._call("query_pages", query=query, library=library, version=resolved.version)
        return PageQueryResult(
            library=library,
            version=resolved.version,
            columns=tuple(rows[0]["columns"]) if rows else (),
            rows=tuple(map(PageQueryRow.from_row, rows)),
            notices=(*substitutions([asdict(resolved)]), *notices),
        )

    def properties(self, library: str, version: str | None = None) -> list[Property]:
        """The front matter properties of a version, the most frequent first."""
        return self._rows(Property, "properties", library=library, version=version)

    def backlinks(
        self, page_id: int | str, *, kinds: Sequence[str] | None = None
    ) -> list[Backlink]:
        """The links from other pages to this page, the strongest first."""
        return self._rows(Backlink, "backlinks", page_id=page_id, kinds=_list(kinds))

    def related_pages(self, page_id: int | str, *, top_k: int = 10) -> list[RelatedPage]:
        """The pages most closely related to a page, and why."""
        return self._rows(RelatedPage, "related_pages", page_id=page_id, top_k=top_k)

    def neighbourhood(
        self,
        page_id: int | str,
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
        self, from_page: int | str, to_page: int | str, *, direction: Direction = "out"
    ) -> list[PathStep]:
        """A shortest path of links from one page to another; empty if there is none."""
        return self._rows(
            PathStep, "shortest_path", from_page=str(from_page), to_page=str(to_page),
            direction=direction,
        )  # fmt: skip

    def edges(
        self, library: str, version: str | None = None, *, page_id: int | str | None = None
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
