"""Searches, what is derived from hits (contexts, pages, counts), and how a query is read."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, Field

from pgrag.api import queries
from pgrag.api.arguments import Arguments, Body, LibraryName, Text, VersionWish, at_most
from pgrag.api.declared import Exchange, Router
from pgrag.api.openapi import problems
from pgrag.ground.values import searches as values
from pgrag.ground.values.libraries import FoundLibrary
from pgrag.project import settled
from pgrag.search.result import Result
from pgrag.search.search import TOP_K, Search

router = Router(tags=["search"], responses=problems(404))
understanding = Router(tags=["search"])

_OWN_VECTOR = "also with a vector of your own."


def _run(
    search: Callable[..., Result], shape: Callable[[Result], dict[str, Any]]
) -> Callable[[Exchange, queries.Query], dict[str, Any]]:
    """Return the handler of a route: calls a method of `Search` and shapes its result."""
    return lambda exchange, query: shape(
        exchange.search(
            search,
            getattr(query, "query", None) or "",
            records=getattr(query, "record", True),
            **query.arguments(),
        )
    )


router.declare_query(
    "/search",
    values.SearchResult,
    (
        "Find passages by words and by meaning.",
        f"Find passages by words and by meaning; {_OWN_VECTOR}",
    ),
    models=queries.SEARCHES,
    run=_run(Search.search, lambda result: result.listing("hits")),
)
router.declare_query(
    "/context",
    values.Context,
    (
        "Assemble the text that answers a question: hits, what belongs to them, within a budget.",
        f"Assemble the text that answers a question; {_OWN_VECTOR}",
    ),
    models=queries.CONTEXTS,
    run=_run(Search.context, Result.context),
)


class ResolveParameters(Arguments):
    """Parameters of a resolution."""

    library: LibraryName = Field(description="Name of a library.", examples=["harbour"])
    version: VersionWish | None = Field(
        default=None,
        description="A label (`2.1`), a range (`^2`), `latest`, or `-` for the unversioned"
        " documentation; by default the newest release.",
    )


@router.answers("/resolve", values.Resolution)
def resolve(exchange: Exchange, query: ResolveParameters) -> Any:
    """Resolve a version request, and give the reason."""
    [row] = exchange.call("resolve_version", library=query.library, wanted=query.version)
    return {"library": query.library, **row}


class DependenciesBody(Body):
    """What a project depends on."""

    dependencies: dict[str, Any] = Field(
        description="Names with versions or ranges, or names of lock files and manifests with their"
        " text.",
        examples=[{"jest": "26.0.1"}],
    )


class PinnedAnswer(BaseModel):
    """The libraries that a project pins, and what was wrong with its files."""

    pinned: list[values.PinnedVersion]
    notices: list[str]


@router.answers("/pinned", PinnedAnswer, method="POST")
def pinned(exchange: Exchange, body: DependenciesBody) -> Any:
    """List the libraries that a project depends on, each in the version that is read for it."""
    given = settled(body.dependencies)
    rows = exchange.call("pinned_versions", dependencies=given.dependencies)
    return {"pinned": rows, "notices": given.notes}


router.declare_query(
    "/search/pages",
    values.PageResult,
    (
        "Find pages: one row each, with its best passage.",
        f"Find pages; {_OWN_VECTOR}",
    ),
    models=queries.PAGE_SEARCHES,
    run=_run(Search.pages, lambda result: result.listing("pages")),
    name="search_pages",
)


@router.answers("/search/batch", values.BatchResult, method="POST")
def search_batch(exchange: Exchange, body: queries.BatchBody) -> Any:
    """Run many searches at once; a failed query does not affect the others."""
    texts = [query.query for query in body.queries]
    options = [query.arguments() for query in body.queries]
    result = exchange.search(Search.many, texts, options=options)
    return result.batch(texts, [own.get("top_k", TOP_K) for own in options])


router.declare_query(
    "/facets",
    values.Facets,
    (
        "Count what a search finds: in all, and by library, version, topic, type, folder, tag,"
        " language and content.",
        f"Count the pages of a search; {_OWN_VECTOR}",
    ),
    models=queries.FACETS,
    run=_run(Search.facets, Result.facets),
)


def _query(description: str, example: str, *, least: int | None = None) -> tuple[object, object]:
    return (
        Annotated[Text, Field(min_length=least, max_length=10_000)],
        Field(alias="q", serialization_alias="query", description=description, examples=[example]),
    )


understanding.declare(
    "/parse",
    values.ParsedQuery,
    "Show which words and which filters a query holds.",
    function="parse_query",
    name="parse",
    responses=problems(404),
    query=_query("As for a search.", "restore type:guide created:>=2024-12-01"),
)
understanding.declare(
    "/search/libraries",
    list[FoundLibrary],
    "Find the libraries that may answer a query, the best first.",
    function="find_libraries",
    key="libraries",
    query=_query("A question or words; filters in it do not count.", "when is spring tide"),
    top_k=(int, at_most(10, 1000, "libraries")),
)
understanding.declare(
    "/suggestions",
    list[values.Suggestion],
    "Suggest similar terms for those of a query that no passage has, the most similar first.",
    function="suggest",
    name="suggestions",
    responses=problems(404),
    query=_query("As for a search.", "resotre a backup"),
    library=(
        LibraryName | None,
        Field(default=None, description="Name of a library; default: the terms of all."),
    ),
    version=(
        VersionWish | None,
        Field(default=None, description="Only libraries that have this version."),
    ),
    top_k=(int, at_most(3, 100, "suggestions", name="suggestion_count")),
)
understanding.declare(
    "/intent",
    values.Intent,
    "Say what kind of question a query is, by which rule, and what it chooses for a search.",
    function="detect_intent",
    name="intent",
    query=_query("A question.", "how do I moor a boat", least=1),
)
