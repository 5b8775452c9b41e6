"""Links between pages: edges, backlinks, neighbours, paths, and the state of each link."""

from typing import Literal

from pgrag.ground.values.base import Value, Versioned, described

#: What links can be filtered by: states of links, broken (three of them), and pages without links.
LinkState = Literal[
    "resolved", "unresolved", "ambiguous", "external", "asset", "tag", "fragment", "broken",
    "orphan",
]  # fmt: skip


class _Written(Value):
    source_page_id: int = described("The page that links.", 7)
    line: int = described("Line of the source file, from 1.", 12)
    rule: str = described("", "explicit:link")
    kind: str = described("", "references")
    confidence: float
    link_text: str
    sentence: str = described("", "See the tide table before you come in.")


class Backlink(_Written):
    """A link of another page to a page."""

    edge_id: int
    key: str = described("Key of the page that links.", "tides.md")
    title: str
    url: str
    document_id: int | None = described("The passage with the link.")
    section: str | None = described("The headings above, joined by /.")
    anchor: str | None
    fragment: str | None
    target_document_id: int | None


class RelatedPage(Value):
    """A page related to another, and why."""

    page_id: int
    key: str
    title: str
    url: str
    score: float = described("The weighted sum of the parts.", 0.58)
    linked: float = described("Edges between the two.")
    cocited: float = described("Pages that link to both.")
    coupled: float = described("Pages that both link to.")
    tagged: float = described("Common tags.")
    meaning: float | None = described("Similarity of the texts; null without vectors.")
    reason: str = described("", "links here; shares #tides")


class Neighbour(Value):
    """A page that is reached from another."""

    page_id: int
    depth: int = described("Steps away.", 1)
    key: str
    title: str
    url: str
    weight: float = described("Product of the weights of the edges on the path.")
    via_page_id: int = described("The page before it on the path.")
    via_page: str
    edge_id: int = described("The strongest edge of the last step.")
    edge_count: int = described("Number of edges of that step.")
    forward: bool = described("Whether the edge leads to this page, or comes from it.")
    kind: str
    line: int
    sentence: str
    path: tuple[int, ...] = described("Ids of all pages on the path.")


class Edge(_Written):
    """One edge; an edge derived from the structure has no id."""

    edge_id: int | None
    source_page: str
    source_title: str
    source_document_id: int | None
    section: str | None
    target: str = described("As written.")
    fragment: str | None
    fragment_found: bool | None
    target_page_id: int | None
    target_page: str | None
    target_title: str | None
    target_document_id: int | None
    state: str
    how: str | None


class EdgeList(Value):
    """Edges of a page."""

    edges: tuple[Edge, ...]
    next: int | None = described("As `after`: the next edges. Null at the end.")


class PathStep(Value):
    """A page on a path, and the edge that leads to it."""

    step: int
    page_id: int
    key: str
    title: str
    url: str
    edge_id: int | None = described("Null for the first page.")
    forward: bool | None = described("Whether the edge leads here, or comes from here.")
    rule: str | None
    kind: str | None
    line: int | None
    link_text: str | None
    sentence: str | None


class EdgeHit(_Written):
    """An edge that a search found."""

    edge_id: int
    score: float = described("The cosine, or the share of the query's terms.")
    matched_by: Literal["meaning", "words"]
    source_page: str
    source_title: str
    source_url: str
    target_page_id: int
    target_page: str
    target_title: str
    target_url: str


class EdgeResult(Value):
    """Edges, the best first."""

    edges: tuple[EdgeHit, ...]
    notices: tuple[str, ...] = described("Such as why terms decided instead of vectors.")


class Link(Value):
    """One link; of an orphan only the target page and the state are set."""

    edge_id: int | None = described("", 12)
    source_page_id: int | None = described("", 7)
    source_page: str | None = described("Key of the page with the link.", "tides.md")
    line: int | None = described("Line of the source file, from 1; 0: unknown.", 12)
    target: str | None = described("As written.", "moorings.md")
    fragment: str | None = described("As written, without #.", "fees")
    fragment_found: bool | None = described("Null without a fragment.")
    target_page_id: int | None = described("Null unless resolved.", 9)
    target_page: str | None = described("", "services/moorings.md")
    rule: str | None = described("The rule that made it a link.", "explicit:link")
    kind: str | None = described("", "references")
    confidence: float | None = described("Above 0, up to 1.", 1.0)
    state: str = described("", "resolved")
    how: str | None = described("path, name, title, alias, slug, url or self.", "path")
    link_text: str | None = described("", "What a night costs")
    candidates: tuple[str, ...] | None = described("Keys of the pages that the link could mean.")


class LinkList(Versioned):
    """Links by source page, in the order of the source."""

    is_finished: bool = described("Whether all pages are indexed and all links connected.")
    links: tuple[Link, ...]
    next: int | None = described("As `after`: the next links. Null at the end.", 12)
