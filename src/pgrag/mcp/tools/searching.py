"""Searching: by words and meaning together, and by each of them alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, Field

from pgrag.db import Row
from pgrag.mcp import no_hits
from pgrag.mcp.documentation import Documentation, Resolved, label, named, shown
from pgrag.mcp.replies import Block, address, breadcrumbs, fit, hit_block, on_one_line
from pgrag.mcp.tool import (
    DEFAULT_BUDGET,
    Arguments,
    Cursor,
    Filters,
    LibraryName,
    Query,
    Reply,
    TokenBudget,
    Tool,
    VersionWishes,
)
from pgrag.search import Result, Search

_FILTERS = (
    'Conditions on pages: {"type": "guide", "tags": ["a", "b"], "created": {">=": "2024-12-01"},'
    ' "page": "guide/*"}. Only if you know the values; they can hide the answer.'
)
_EVERY_VERSION = "*"


class _Asked(Arguments):
    version: VersionWishes = None
    limit: Annotated[int, Field(ge=1, le=50, description="At most so many passages.")] = 5
    filters: Annotated[Filters, Field(description=_FILTERS)] = None
    token_budget: TokenBudget = DEFAULT_BUDGET
    cursor: Cursor = None


class _OfLibrary(Arguments):
    library: LibraryName
    query: Annotated[
        Query,
        Field(
            description="What to look for: a question or key terms, one topic, names of functions"
            ' and options as they are spelt. "a phrase" and +word must occur, -word must not.',
            examples=["clean up an effect on unmount"],
        ),
    ]


class _OfAny(Arguments):
    query: Annotated[Query, Field(description="What to look for.")]
    library: Annotated[
        str | None,
        Field(max_length=200, description="Name of a library. Leave it out to search all."),
    ] = None


class SearchDocs(_Asked, _OfLibrary):
    """A question to one library."""


class SearchByArm(_Asked, _OfAny):
    """A question to one arm of the search, in one library or all."""


class Passage(BaseModel):
    """One hit."""

    id: int = Field(description="For read_document.")
    page_id: int = Field(description="For get_page, get_outline and get_related.")
    library: str
    version: str = Field(description="`-` for documentation without versions.")
    title: str = Field(description="Of the page.")
    breadcrumbs: str = Field(description="Where it stands.")
    url: str
    score: float
    keyword_score: float | None
    semantic_score: float | None
    content: str = Field(description="Quoted from the documentation.")
    is_cut: bool = Field(description="Whether its end was cut off for the budget.")


class Passages(BaseModel):
    """Hits, best first."""

    library: str | None
    version: str | None = Field(description="The version read; null if several were.")
    version_reason: str | None = Field(description="Why that version.")
    passages: list[Passage]
    cursor: str | None = Field(description="For the next passages; null where there are no more.")
    search_id: str | None = Field(description="For send_feedback; null if not recorded.")
    notices: list[str]


def _searching(
    search: Callable[..., Result],
    doubts: Callable[[list[Row]], list[str]] = lambda _: [],
) -> Callable[[Documentation, SearchDocs | SearchByArm], Reply]:
    def run(documentation: Documentation, given: SearchDocs | SearchByArm) -> Reply:
        read = _version_read(documentation, given)
        found = search(
            documentation.search,
            given.query,
            library=given.library,
            version=label(given.version),
            match_count=given.limit,
            filters=given.filters,
            after=given.cursor,
        )
        if not found.rows:
            return _nothing(documentation, search.__name__, given, read, found)
        return _passages(given, read, found, doubts(found.rows))

    return run


def _version_read(documentation: Documentation, given: SearchDocs | SearchByArm) -> Resolved | None:
    """The version that a search of one library reads, and why; None where it may be several."""
    wish: Any = given.version
    if wish is None:
        wish = (given.filters or {}).get("version")
    if wish is None and "version:" in given.query.lower():
        [asked] = documentation.call("parse_query", query=given.query)
        wish = (asked["filters"] or {}).get("version")
    if given.library is None or wish == _EVERY_VERSION or not isinstance(wish, str | None):
        return None
    return documentation.resolve(given.library, wish)


def _passages(
    given: SearchDocs | SearchByArm, read: Resolved | None, found: Result, doubts: list[str]
) -> Reply:
    rows = found.rows
    stated = None if read is None else named(read.library, read.label)
    notices = [*found.notices, *doubts]
    blocks = [hit_block(rank, row, stated=stated) for rank, row in enumerate(rows, start=1)]

    def cursor(count: int) -> str | None:
        is_all = count == len(rows) and len(rows) < given.limit
        return None if is_all else str(rows[count - 1]["cursor"])

    def foot(count: int) -> str:
        return _foot(rows, found, cursor(count))

    head = "\n".join([_head(given, read), *(f"Note: {notice}" for notice in notices)])
    fitted = fit(head, blocks, foot, given.token_budget)
    content = _content(
        given,
        read,
        found,
        [_passage(row, block) for row, block in zip(rows, fitted.blocks, strict=False)],
        cursor=cursor(len(fitted.blocks)),
        notices=notices,
    )
    return Reply(fitted.text, content)


def _head(given: SearchDocs | SearchByArm, read: Resolved | None) -> str:
    where = str(read) if read else f"{given.library or 'all libraries'}, {_versions(given)}"
    following = " (continued)" if given.cursor else ""
    return f"# Passages for {on_one_line(given.query)!r}{following}\nFrom: {where}"


def _versions(given: SearchDocs | SearchByArm) -> str:
    """Which versions are read where they may be several."""
    if given.version is None:
        return "the newest version of each"
    return "every version" if given.version == _EVERY_VERSION else f"version {given.version}"


def _doubts(rows: list[Row]) -> list[str]:
    """What an arm of the hybrid search did not find."""
    if not any(row["keyword_score"] for row in rows):
        return [
            "The keyword arm found nothing: no passage has a word of the query. These are the"
            " nearest by meaning, and may be beside the point."
        ]
    if all(row["semantic_score"] is None for row in rows):
        return ["Found by words alone; the semantic arm had no vectors to compare."]
    return []


def _foot(rows: list[Row], found: Result, cursor: str | None) -> str:
    first = rows[0]
    said = [
        f'Read on: read_document(id={first["document_id"]}, expand="section"),'
        f" get_page(page_id={first['page_id']})."
    ]
    if cursor is not None:
        said.append(f'More: the same call with cursor="{cursor}".')
    return "---\n" + "\n".join([*said, *_rating(found)])


def _rating(found: Result) -> list[str]:
    if found.search_id is None:
        return []
    return [f'Rate it: send_feedback(search_id="{found.search_id}", rating=1 to 5).']


def _nothing(
    documentation: Documentation,
    function: str,
    given: SearchDocs | SearchByArm,
    read: Resolved | None,
    found: Result,
) -> Reply:
    if given.cursor is not None:
        said = ["There are no more passages. Go on with what you have, or ask in other words."]
    else:
        said = [
            *found.notices,
            *no_hits.explain(
                documentation,
                function,
                given.query,
                library=given.library,
                version=given.version,
                filters=given.filters,
            ),
        ]
    lines = [_head(given, read), "", "Nothing was found.", *(f"- {line}" for line in said)]
    lines += ["", "---", *_rating(found)] if found.search_id else []
    return Reply("\n".join(lines), _content(given, read, found, [], cursor=None, notices=said))


def _content(
    given: SearchDocs | SearchByArm,
    read: Resolved | None,
    found: Result,
    passages: list[Passage],
    *,
    cursor: str | None,
    notices: list[str],
) -> Passages:
    return Passages(
        library=given.library if read is None else read.library,
        version=None if read is None else shown(read.label),
        version_reason=None if read is None else read.reason,
        passages=passages,
        cursor=cursor,
        search_id=None if found.search_id is None else str(found.search_id),
        notices=notices,
    )


def _passage(row: Row, block: Block) -> Passage:
    return Passage(
        id=row["document_id"],
        page_id=row["page_id"],
        library=row["library"],
        version=shown(row["version"]),
        title=row["title"],
        breadcrumbs=breadcrumbs(row),
        url=address(row),
        score=row["score"],
        keyword_score=row["keyword_score"],
        semantic_score=row["semantic_score"],
        content=block.content,
        is_cut=block.is_cut,
    )


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="search_docs",
        title="Search the documentation of a library",
        description="Search the documentation of one library and get the best passages, whole,"
        " with breadcrumbs, url, version and ids to read further. It finds by words and by meaning"
        " together: use it first, for questions and for names of functions, options and error"
        " messages alike. Examples:\n"
        '- {"library": "react", "query": "clean up an effect"} reads the newest version\n'
        '- {"library": "react", "version": "18.2.0", "query": "useId"} reads 18.2.0, or the newest'
        " before it\n"
        '- {"library": "typescript", "version": "5.x", "query": "ReturnType example"} reads the'
        " newest 5\n"
        "The reply says which version was read and why.",
        arguments=SearchDocs,
        output=Passages,
        run=_searching(Search.search, _doubts),
    ),
    Tool(
        name="keyword_search",
        title="Search by words alone",
        description="Find passages that contain the words of the query (BM25), in one library or,"
        " without library, in all of them. Use it for exact names, flags and error codes when"
        " search_docs brings passages that are only similar.",
        arguments=SearchByArm,
        output=Passages,
        run=_searching(Search.keyword_search),
    ),
    Tool(
        name="semantic_search",
        title="Search by meaning alone",
        description="Find passages that mean what the query means, whatever words they use, in one"
        " library or, without library, in all of them. Use it when the words of the documentation"
        " are unknown.",
        arguments=SearchByArm,
        output=Passages,
        run=_searching(Search.semantic_search),
    ),
)
