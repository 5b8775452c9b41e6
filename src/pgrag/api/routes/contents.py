"""Contents of a library: text, links, properties, texts of language models, and health."""

from typing import Annotated, Any, Literal

from pydantic import Field

from pgrag.api.arguments import (
    CONTINUES,
    LARGEST_ID,
    Arguments,
    Cursor,
    Name,
    OfVersion,
    Text,
    VersionWish,
    at_most,
)
from pgrag.api.declared import Exchange, Router
from pgrag.api.openapi import problems
from pgrag.api.queries import query_models
from pgrag.ground.notices import collected_notices
from pgrag.ground.values.base import Value
from pgrag.ground.values.graph import LinkList, LinkState
from pgrag.ground.values.libraries import Enrichment, LibraryHealth, TextLines
from pgrag.ground.values.properties import PageProperty, PageQueryResult, PropertyList
from pgrag.search.result import next_cursor, substitutions

router = Router(tags=["libraries"], responses=problems(404))


class TextParameters(OfVersion):
    """The pattern of a line, and where to look."""

    pattern: Annotated[Text, Field(min_length=1, max_length=1000)] = Field(
        description="What a line must hold.", examples=["spring tide"]
    )
    mode: Literal["literal", "regex", "word"] = Field(
        default="literal", description="The text as it is, an expression, or whole words."
    )
    case: Literal["sensitive", "ignore", "smart"] = Field(
        default="sensitive",
        serialization_alias="case_mode",
        description="smart: ignore, unless the pattern has a capital letter.",
    )
    context: int = Field(default=0, ge=0, le=100, description="Lines before and after.")
    path: Annotated[Text, Field(max_length=1000)] | None = Field(
        default=None, description="A glob over the keys: docs/*.md, guide/, **/a.md."
    )
    top_k: int = at_most(100, 1000, "lines")
    after: Cursor | None = Field(default=None, description=CONTINUES)
    timeout_ms: int = Field(
        default=5000, ge=1, le=60_000, description="Gives up after this many milliseconds."
    )


class LinkParameters(OfVersion):
    """Filters of links."""

    state: LinkState | None = Field(
        default=None,
        description="fragment: the page has no such heading or block; broken: unresolved,"
        " ambiguous or fragment; orphan: instead of links the pages without a link to them.",
        examples=["unresolved"],
    )
    page: Annotated[Text, Field(max_length=4000)] | None = Field(
        default=None, description="Only links of this page: its key, name, title, alias, url or id."
    )
    kind: Name | None = Field(
        default=None, description="Only links of this kind.", examples=["references"]
    )
    top_k: int = at_most(100, 10_000, "links")
    after: int | None = Field(default=None, ge=1, le=LARGEST_ID, description=CONTINUES)


class HealthParameters(Arguments):
    """What to check."""

    version: VersionWish | None = Field(
        default=None, description="Only this version; default: all of them."
    )
    checks: Annotated[Text, Field(max_length=200)] | None = Field(
        default=None,
        description="Some of documents, pages, vectors, links and statistics, with commas between"
        " them; default: all.",
        examples=["links,vectors"],
    )


class EnrichmentParameters(Arguments):
    """Which version, and how many failures."""

    version: VersionWish | None = Field(
        default=None,
        description="A label or a range; `-` for the unversioned documentation; default: all"
        " versions.",
        examples=["2.1"],
    )
    top_k: int = Field(default=100, ge=0, le=10_000, description="At most this many failures.")


class _Bounded(OfVersion):
    top_k: int = Field(default=1000, ge=0, le=100_000, description="At most this many rows.")
    timeout_ms: int = Field(
        default=30_000, ge=1, le=600_000, description="Gives up after this many milliseconds."
    )


class PropertiesParameters(OfVersion):
    """Whose properties."""

    examples: int = Field(default=3, ge=0, le=100, description="Examples of values of each.")


class PageProperties(Value):
    """The properties of one page, by name."""

    properties: tuple[PageProperty, ...]


@router.answers("/libraries/{library:name}/links", LinkList)
def links(exchange: Exchange, library: str, query: LinkParameters) -> Any:
    """List links with their sources and targets."""
    scope = exchange.version_of(library, query.version)
    rows = exchange.call("links", **query.for_sql() | scope)
    [progress] = exchange.call("_pgrag.link_progress", **scope)
    last = "target_page_id" if query.state == "orphan" else "edge_id"
    return {
        **scope,
        "is_finished": progress["is_finished"],
        "links": rows,
        "next": next_cursor(rows, query.top_k, last),
    }


@router.answers("/libraries/{library:name}/enrichment", Enrichment)
def enrichment(exchange: Exchange, library: str, query: EnrichmentParameters) -> Any:
    """List the progress and the failures of texts that language models write for passages."""
    scope: dict[str, str | None] = {"library": library, "version": None}
    if query.version is not None:
        scope |= exchange.version_of(library, query.version)
    return {
        **scope,
        "kinds": exchange.call("enrichment_state", **scope),
        "failures": exchange.call("enrichment_failures", **scope, top_k=query.top_k),
    }


@router.answers("/libraries/{library:name}/text", TextLines, work="costly")
def text(exchange: Exchange, library: str, query: TextParameters) -> Any:
    """List the lines of the sources that contain a text, like ripgrep."""
    scope = exchange.version_of(library, query.version)
    with exchange.timed() as database:
        rows = database.call_in_time("search_text", **query.for_sql() | scope)
    return {**scope, "lines": rows, "next": next_cursor(rows, query.top_k, "cursor")}


@router.answers("/libraries/{library:name}/health", LibraryHealth, work="costly")
def health(exchange: Exchange, library: str, query: HealthParameters) -> Any:
    """Check ids, links, vectors and statistics of a library. Reads everything, changes nothing."""
    checks = query.checks.split(",") if query.checks else None
    rows = exchange.call("check_library", library=library, version=query.version, checks=checks)
    return {"library": library, "healthy": not rows, "findings": rows}


def _query_pages(exchange: Exchange, library: str, query: Any) -> dict[str, Any]:
    [read] = exchange.call("resolve_version", library=library, wanted=query.version)
    scope = {"library": library, "version": read["version"]}
    with collected_notices() as notices, exchange.timed() as database:
        rows = database.call_within(
            query.timeout_ms, "query_pages", query=query.query, top_k=query.top_k, **scope
        )
    columns = rows[0]["columns"] if rows else []
    for row in rows:
        del row["columns"]
    return {
        **scope,
        "columns": columns,
        "rows": rows,
        "notices": [*substitutions([scope | read]), *notices],
    }


router.declare_query(
    "/libraries/{library:name}/query",
    PageQueryResult,
    (
        "Ask for pages or tasks by the properties of their front matter.",
        "Ask for pages or tasks by their properties; also with a long query.",
    ),
    models=query_models(
        "PageQuery",
        "A query over pages.",
        _Bounded,
        description="TABLE, LIST or TASK, in a part of Dataview's language.",
        max_length=10_000,
        examples=["TABLE status, due FROM #project WHERE priority > 3 SORT due DESC"],
    ),
    run=_query_pages,
    name="query_pages",
    work="costly",
)


@router.answers("/libraries/{library:name}/properties", PropertyList)
def properties(exchange: Exchange, library: str, query: PropertiesParameters) -> Any:
    """List the properties of pages with the types of their values."""
    scope = exchange.version_of(library, query.version)
    return {
        **scope,
        "properties": exchange.call("properties", **scope, example_count=query.examples),
    }


@router.answers("/pages/{page_id:page}/properties", PageProperties)
def page_properties(exchange: Exchange, page_id: str) -> Any:
    """List the properties of one page with their types."""
    rows = exchange.call("page_properties", page_id=page_id)
    return {"properties": [{name: row[name] for name in ("name", "type", "value")} for row in rows]}
