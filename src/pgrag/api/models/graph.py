"""Arguments of the graph's routes, and what they answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from pgrag.api.models.arguments import LARGEST_ID, Arguments, LibraryName, Text, VersionWish

Direction = Literal["out", "in", "both"]
PageNumber = Annotated[int, Field(ge=1, le=LARGEST_ID)]

_DIRECTION = "out: along links; in: against them; both."


class _Kinds(Arguments):
    kinds: Annotated[Text, Field(max_length=4000)] | None = Field(
        default=None,
        description="Only edges of these kinds, with commas; one that no edge has finds nothing.",
        examples=["links_to,depends_on"],
    )

    @property
    def kind_names(self) -> list[str] | None:
        """The kinds by themselves, or None for all."""
        if self.kinds is None:
            return None
        return [name.strip() for name in self.kinds.split(",") if name.strip()]


class BacklinkParameters(_Kinds):
    """Which backlinks."""

    limit: int = Field(default=100, ge=1, le=10_000, description="At most so many.")


class RelatedParameters(Arguments):
    """How many related pages."""

    limit: int = Field(default=10, ge=1, le=100, description="At most so many.")


class NeighbourhoodParameters(_Kinds):
    """How far, and by which edges."""

    depth: int = Field(default=1, ge=1, le=10, description="Steps at most.")
    direction: Direction = Field(default="both", description=_DIRECTION)
    fan_out: int = Field(default=50, ge=1, le=1000, description="From each page the strongest.")
    total: int = Field(default=500, ge=1, le=10_000, description="Pages at most.")


class EdgeParameters(_Kinds):
    """Which of a page's edges."""

    direction: Direction = Field(default="both", description="out: on the page; in: to it; both.")
    structure: bool = Field(default=False, description="Also belongs_to, next and prev.")
    limit: int = Field(default=1000, ge=1, le=10_000, description="At most so many.")
    after: int | None = Field(
        default=None, ge=1, le=LARGEST_ID, description="The `next` of the answer before."
    )


class PathParameters(_Kinds):
    """From where to where, and how."""

    from_page: PageNumber = Field(alias="from", description="`page_id`.", examples=[7])
    to_page: PageNumber = Field(alias="to", description="`page_id`.", examples=[9])
    max_depth: int = Field(default=8, ge=1, le=100, description="Steps at most.")
    direction: Direction = Field(default="out", description=_DIRECTION)


class EdgeSearchParameters(_Kinds):
    """What the edges shall say, and where."""

    query: Text = Field(
        alias="q", description="What the edges shall say.", examples=["who needs tides"]
    )
    library: LibraryName = Field(description="Name of a library.", examples=["harbour"])
    version: VersionWish | None = Field(
        default=None, description="A label, a range, or `-`; default: the newest."
    )
    min_score: float = Field(default=0, ge=0, description="Leave out what is below.")
    limit: int = Field(default=10, ge=1, le=1000, description="At most so many.")


class Backlink(BaseModel):
    """One link of another page."""

    edge_id: int
    source_page_id: int = Field(description="The page that links.", examples=[7])
    key: str = Field(description="Its key.", examples=["tides.md"])
    title: str
    url: str
    document_id: int | None = Field(description="Where in it.")
    section: str | None = Field(description="The headings above, joined by /.")
    anchor: str | None
    line: int = Field(description="In the source file, from 1.", examples=[12])
    rule: str = Field(examples=["explicit:link"])
    kind: str = Field(examples=["links_to"])
    confidence: float
    link_text: str
    sentence: str = Field(examples=["See the tide table before you come in."])
    fragment: str | None
    target_document_id: int | None


class Backlinks(BaseModel):
    """Who links to a page, the strongest first."""

    backlinks: list[Backlink]


class RelatedPage(BaseModel):
    """A page that has to do with another, and why."""

    page_id: int
    key: str
    title: str
    url: str
    score: float = Field(description="The weighted sum of the parts.", examples=[0.58])
    linked: float = Field(description="Edges between the two.")
    cocited: float = Field(description="Pages that link to both.")
    coupled: float = Field(description="Pages that both link to.")
    tagged: float = Field(description="Common tags.")
    meaning: float | None = Field(description="Nearness of the texts; null without vectors.")
    reason: str = Field(examples=["links here; shares #tides"])


class RelatedPages(BaseModel):
    """Pages that have to do with a page, the nearest first."""

    related: list[RelatedPage]


class Neighbour(BaseModel):
    """A page that is reached from another."""

    page_id: int
    depth: int = Field(description="Steps away.", examples=[1])
    key: str
    title: str
    url: str
    weight: float = Field(description="Product of the edges' weights on the way.")
    via_page_id: int = Field(description="The page before it on the way.")
    via_page: str
    edge_id: int = Field(description="The strongest edge of the last step.")
    edge_count: int = Field(description="How many edges that step has.")
    forward: bool = Field(description="Whether the edge leads to this page, or comes from it.")
    kind: str
    line: int
    sentence: str
    path: list[int] = Field(description="Ids of all pages on the way.")


class Neighbourhood(BaseModel):
    """The pages around a page, the nearest and strongest first."""

    neighbourhood: list[Neighbour]


class Edge(BaseModel):
    """One edge; what is derived from the structure has no id."""

    edge_id: int | None
    source_page_id: int
    source_page: str
    source_title: str
    source_document_id: int | None
    section: str | None
    line: int
    target: str = Field(description="As it is written.")
    fragment: str | None
    fragment_found: bool | None
    target_page_id: int | None
    target_page: str | None
    target_title: str | None
    target_document_id: int | None
    rule: str
    kind: str
    confidence: float
    state: str
    how: str | None
    link_text: str
    sentence: str


class Edges(BaseModel):
    """Edges of a page."""

    edges: list[Edge]
    next: int | None = Field(description="As `after`: the next edges. Null where there are none.")


class Step(BaseModel):
    """A page on a way, and the edge that leads there."""

    step: int
    page_id: int
    key: str
    title: str
    url: str
    edge_id: int | None = Field(description="Null for the first page.")
    forward: bool | None = Field(description="Whether the edge leads here, or comes from here.")
    rule: str | None
    kind: str | None
    line: int | None
    link_text: str | None
    sentence: str | None


class Way(BaseModel):
    """A shortest way from a page to another; empty where there is none."""

    path: list[Step]


class FoundEdge(BaseModel):
    """An edge that says what was asked for."""

    edge_id: int
    score: float = Field(description="The cosine, or by words the share of them.")
    matched_by: Literal["meaning", "words"]
    source_page_id: int
    source_page: str
    source_title: str
    source_url: str
    line: int
    kind: str
    rule: str
    confidence: float
    link_text: str
    sentence: str
    target_page_id: int
    target_page: str
    target_title: str
    target_url: str


class FoundEdges(BaseModel):
    """Edges, the best first."""

    edges: list[FoundEdge]
    notices: list[str] = Field(description="Such as why words decided instead of vectors.")
