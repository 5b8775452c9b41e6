"""The graph: links to a page, the pages around a page, and how two pages are connected."""

from typing import Annotated, Any, Literal

from pydantic import Field, PlainSerializer

from pgrag.api.arguments import (
    CONTINUES,
    LARGEST_ID,
    Arguments,
    LibraryName,
    Text,
    VersionWish,
    at_most,
)
from pgrag.api.declared import Exchange, Router
from pgrag.api.openapi import problems
from pgrag.ground.values import graph as values
from pgrag.search.search import Search

router = Router(tags=["graph"], responses=problems(404))

Direction = Literal["out", "in", "both"]
PageNumber = Annotated[int, Field(ge=1, le=LARGEST_ID)]
PageName = Annotated[Text, Field(max_length=4000)]

_PAGE = "`page_id` of a hit, or a name: `harbour:tides.md`."
_ALONG = "out: along links; in: against them; both."


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


class _Kinds(Arguments):
    kinds: Annotated[Annotated[Text, Field(max_length=4000)] | None, PlainSerializer(_names)] = (
        Field(
            default=None,
            description="Only edges of these kinds, with commas; a kind without edges finds none.",
            examples=["references,depends_on"],
        )
    )


class EdgeParameters(_Kinds):
    """Which of a page's edges."""

    direction: Direction = Field(default="both", description="out: on the page; in: to it; both.")
    structure: bool = Field(default=False, description="Also belongs_to, next and prev.")
    top_k: int = at_most(1000, 10_000, "edges")
    after: PageNumber | None = Field(default=None, description=CONTINUES)


class EdgeSearchParameters(_Kinds):
    """What the edges shall say, and where."""

    query: Text = Field(
        alias="q",
        serialization_alias="query",
        description="What the edges shall say.",
        examples=["who needs tides"],
    )
    library: LibraryName = Field(description="Name of a library.", examples=["harbour"])
    version: VersionWish | None = Field(
        default=None, description="A label, a range, or `-`; default: the newest."
    )
    min_score: float = Field(default=0, ge=0, description="Leave out edges below this score.")
    top_k: int = at_most(10, 1000, "edges")


router.declare(
    "/pages/{page_id:page}/backlinks",
    list[values.Backlink],
    "List who links to a page, where, and in which sentence; the strongest first.",
    base=_Kinds,
    top_k=(int, at_most(100, 10_000, "links")),
)
router.declare(
    "/pages/{page_id:page}/related",
    list[values.RelatedPage],
    "List the pages most related to a page, and why; the nearest first.",
    function="related_pages",
    name="related",
    top_k=(int, at_most(10, 100, "pages")),
)
router.declare(
    "/pages/{page_id:page}/neighbourhood",
    list[values.Neighbour],
    "List the pages around a page, as far as links lead; the nearest and strongest first.",
    base=_Kinds,
    depth=(int, Field(default=1, ge=1, le=10, description="Largest number of steps.")),
    direction=(Direction, Field(default="both", description=_ALONG)),
    fan_out=(int, at_most(50, 1000, "neighbours of each page, the strongest", name="fan_out")),
    total=(int, at_most(500, 10_000, "pages", name="total")),
)
router.declare(
    "/path",
    list[values.PathStep],
    "Find a shortest path from a page to another along links; empty where there is none.",
    function="shortest_path",
    name="path",
    base=_Kinds,
    from_page=(
        PageName,
        Field(alias="from", serialization_alias="from_page", description=_PAGE, examples=["7"]),
    ),
    to_page=(
        PageName,
        Field(alias="to", serialization_alias="to_page", description=_PAGE, examples=["9"]),
    ),
    max_depth=(int, Field(default=8, ge=1, le=100, description="Largest number of steps.")),
    direction=(Direction, Field(default="out", description=_ALONG)),
)


@router.answers("/pages/{page_id:page}/edges", values.EdgeList)
def edges(exchange: Exchange, page_id: str, query: EdgeParameters) -> Any:
    """List the edges of a page, whatever their state."""
    [row] = exchange.call("page", page_id=page_id)
    page = {name: row[name] for name in ("library", "page_id")}
    rows = exchange.call("edges", **page, **query.for_sql())
    stored = [row["edge_id"] for row in rows if row["edge_id"] is not None]
    return {"edges": rows, "next": stored[-1] if len(stored) == query.top_k else None}


@router.answers("/edges/search", values.EdgeResult)
def search_edges(exchange: Exchange, query: EdgeSearchParameters) -> Any:
    """Search edges between pages by their sentences."""
    result = exchange.search(Search.edges, **query.for_sql())
    return {"edges": result.rows, "notices": result.notices}
