"""Searches: hybrid, and with a single retriever."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from pydantic import BaseModel, Field

from pgrag.ground.arguments import KeywordArguments, SearchArguments, SemanticArguments
from pgrag.ground.calls import Row
from pgrag.ground.errors import PgragError
from pgrag.mcp import fields
from pgrag.mcp.corpus import Documentation, Resolved, label, named, shown
from pgrag.mcp.replies import address, breadcrumbs, fit, hit_block, notes, on_one_line
from pgrag.mcp.tool import Arguments, Paged, Reply, Tool, tool, with_declared
from pgrag.search.result import Result
from pgrag.search.search import Search

_FILTERS = (
    'Conditions on pages: {"type": "guide", "tags": ["a", "b"], "created": {">=": "2024-12-01"},'
    ' "page": "guide/*"}. Only if you know the values; they can hide the answer.'
)
_HISTORY = ("since", "changed_in")
_VERSIONS = {None: "the newest version of each", "*": "every version"}
"""The versions that a search reads where several may be read."""
_NEAREST = 3
"""Pages named if there is no good match."""
_MARKS = re.compile(r'"|(?<!\S)[+-](?=\S)')
"""Marks that make a term of a query required or forbidden."""

_RETRIEVERS = (
    ("keyword", "keyword_search", "those words"),
    ("vector", "semantic_search", "a vector near it"),
)


class _Asked(Paged):
    version: fields.VersionWishes = None
    top_k: int = Field(default=5, ge=1, le=50, description="The maximum number of passages.")
    filters: fields.Filters = Field(default=None, description=_FILTERS)


class _OfLibrary(Arguments):
    library: fields.LibraryName
    query: fields.Query = Field(
        description="What to look for: a question or key terms, one topic, names of functions"
        ' and options as they are spelt. +word and +"a phrase" must occur, -word must not.',
        examples=["clean up an effect on unmount"],
    )


class _OfAny(Arguments):
    query: fields.Query = Field(description="What to look for.")
    library: str | None = fields.optional_text(200, "Name of a library; by default all.")


@with_declared(SearchArguments)
class SearchDocs(_Asked, _OfLibrary):
    """A question to one library."""


@with_declared(KeywordArguments)
class SearchByWords(_Asked, _OfAny):
    """A question to the keyword retriever, in one library or all."""


@with_declared(SemanticArguments)
class SearchByMeaning(_Asked, _OfAny):
    """A question to the vector retriever, in one library or all."""

    min_score: float | None = Field(
        default=None, ge=0, le=1, description="Leave out passages that are less near."
    )


_Request: TypeAlias = "SearchDocs | SearchByWords | SearchByMeaning"


class FoundPassage(BaseModel):
    """One hit."""

    id: int = Field(validation_alias="document_id", description="For read_document.")
    page_id: int = Field(description="For get_page, get_outline and get_related.")
    library: str
    version: fields.VersionLabel = Field(description="`-` for documentation without versions.")
    title: str = Field(description="Of the page.")
    breadcrumbs: str = Field(description="The headings above it.")
    url: str
    score: float
    keyword_score: float | None
    semantic_score: float | None
    confidence: float | None = Field(description="Whether it answers, 0 to 1; null: not known.")
    content: str = Field(description="Quoted from the documentation.")
    is_cut: bool = Field(description="Whether its end was cut off for the budget.")
    since: str | None = Field(description="With history: the version that first had it.")
    changed_in: str | None = Field(description="With history: the last version that changed it.")


class Passages(BaseModel):
    """Hits, best first."""

    library: str | None
    version: str | None = Field(description="The version read; null if several were.")
    version_reason: str | None = Field(description="Why that version.")
    passages: list[FoundPassage]
    cursor: str | None = Field(description="For the next passages; null at the end.")
    search_id: str | None = Field(description="For send_feedback; null if not recorded.")
    notices: list[str]


def _answered(
    search: Callable[..., Result], documentation: Documentation, request: _Request
) -> Reply:
    result = search(
        documentation.search,
        request.query,
        **request.model_dump(exclude={"query", "version", "cursor", "token_budget"}),
        version=label(request.version),
        after=request.cursor,
    )
    read = _version_read(documentation, request, result)
    # Whoever asks one retriever alone wants to see what it finds.
    if result.no_good_match and search is Search.search:
        return _nearest(request, read, result)
    if result.rows:
        doubts = _doubts(result.rows) if search is Search.search else []
        return _passages(request, read, result, doubts)
    said = ["There are no more passages. Go on with what you have, or ask in other words."]
    if request.cursor is None:
        said = [*result.notices, *_no_hits(documentation, search.__name__, request)]
    lines = [
        _head(request, read),
        "",
        "Nothing was found.",
        *notes(said, "- "),
    ]
    lines += ["", "---", *_rating(result)] if result.search_id else []
    return Reply("\n".join(lines), _content(request, read, result, said))


def _version_read(
    documentation: Documentation, request: _Request, result: Result
) -> Resolved | None:
    """The version that a search of one library read, and why; None if several may be read."""
    if request.library is None or len(result.resolved) != 1:
        return None
    if label(request.version) == "":
        return documentation.resolve(request.library, request.version)
    [read] = result.resolved
    reason = "the version asked for" if read["reason"] == "exact" else read["reason"]
    return Resolved(read["library"], read["version"], reason)


def _passages(request: _Request, read: Resolved | None, result: Result, doubts: list[str]) -> Reply:
    rows = result.rows
    stated = None if read is None else named(read.library, read.label)
    notices = [*result.notices, *doubts]
    blocks = [hit_block(rank, row, stated=stated) for rank, row in enumerate(rows, start=1)]

    def cursor(count: int) -> str | None:
        is_all = count == len(rows) and len(rows) < request.top_k
        return None if is_all else str(rows[count - 1]["cursor"])

    head = "\n".join([_head(request, read), *notes(notices)])
    fitted = fit(head, blocks, lambda count: _foot(result, cursor(count)), request.token_budget)
    content = _content(request, read, result, notices)
    content.cursor = cursor(len(fitted.blocks))
    content.passages = [
        FoundPassage.model_validate(
            row
            | {name: row[name] if row[name] is None else shown(row[name]) for name in _HISTORY}
            | {
                "breadcrumbs": breadcrumbs(row),
                "url": address(row),
                "content": block.quotation,
                "is_cut": block.is_cut,
            }
        )
        for row, block in zip(rows, fitted.blocks, strict=False)
    ]
    return Reply(fitted.text, content)


def _nearest(request: _Request, read: Resolved | None, result: Result) -> Reply:
    """The reply if no passage is likely to answer: the nearest pages, without their texts."""
    pages = {row["page_id"]: on_one_line(row["title"])[:60] for row in result.rows}
    nearest = [f"- {title} (page_id={id})" for id, title in [*pages.items()][:_NEAREST]]
    where = named(read.library, read.label) if read else request.library or "all libraries"
    lines = [
        f"No good match in {where}. Nearest pages:", *nearest,
        "Ask in other words; search_text finds exact text; min_confidence=0 shows the passages.",
    ]  # fmt: skip
    return Reply("\n".join(lines), _content(request, read, result, result.notices))


def _head(request: _Request, read: Resolved | None) -> str:
    versions = _VERSIONS.get(request.version, f"version {request.version}")
    where = str(read) if read else f"{request.library or 'all libraries'}, {versions}"
    following = " (continued)" if request.cursor else ""
    return f"# Passages for {on_one_line(request.query)!r}{following}\nFrom: {where}"


def _doubts(rows: list[Row]) -> list[str]:
    """Warnings if a retriever of the hybrid search has no hits; none for a list by filters."""
    if all(row["keyword_score"] is row["semantic_score"] is None for row in rows):
        return []
    if not any(row["keyword_score"] for row in rows):
        return [
            "The keyword retriever has no hits: no passage has a term of the query. These are the"
            " nearest by meaning, and may be off topic."
        ]
    if all(row["semantic_score"] is None for row in rows):
        return ["By words alone: the vector retriever had no vectors to compare."]
    return []


def _foot(result: Result, cursor: str | None) -> str:
    first = result.rows[0]
    said = [
        f'Read on: read_document(id={first["document_id"]}, expand="section"),'
        f" get_page(page_id={first['page_id']})."
    ]
    if cursor is not None:
        said.append(f'More: the same call with cursor="{cursor}".')
    return "---\n" + "\n".join([*said, *_rating(result)])


def _rating(result: Result) -> list[str]:
    if result.search_id is None:
        return []
    return [f'Rate it: send_feedback(search_id="{result.search_id}", rating=1 to 5).']


def _no_hits(documentation: Documentation, function: str, request: _Request) -> list[str]:
    """Say which retrievers have no hits, and which changes of the search lead to hits."""
    query, filters = request.query, request.filters
    scope = {"library": request.library, "version": label(request.version)}

    def find(search: str, words: str, **changed: Any) -> list[Row]:
        """The hits of a search, one unless `top_k` is changed; none if the search fails."""
        arguments = {"top_k": 1, "filters": filters} | scope | changed
        try:
            result: Result = getattr(documentation.unrecorded, search)(words, **arguments)
        except PgragError:
            return []
        return result.rows

    retrievers = [
        f"The {name} retriever alone has hits: call {search}."
        if find(search, query)
        else f"The {name} retriever has no hits: no passage in scope has {lacking}."
        for name, search, lacking in _RETRIEVERS
    ]
    said = []
    if filters and find(function, query, filters=None):
        said.append("Leave out `filters`: without them there are hits.")
    words = _words(documentation, query)
    if words != query and words and find(function, words):
        said.append(f"Leave out the conditions in the query: {on_one_line(words)!r} has hits.")
    plain = " ".join(_MARKS.sub(" ", words).split())
    if plain != words and plain and find(function, plain):
        said.append(f"Leave out quotation marks, + and -: {on_one_line(plain)!r} has hits.")
    if scope["version"] != "*":
        rows = find(function, query, version="*", top_k=20)
        labels = dict.fromkeys(shown(row["version"]) for row in rows)
        if labels:
            said.append(f"Other versions have hits: {', '.join(labels)}.")
    alone = plain or query
    if not said and find(function, alone, version="*", filters=None):
        shown_alone = f"{on_one_line(alone)!r} alone, in version '*'"
        said.append(f"Leave out all conditions at once: {shown_alone}, has hits.")
    return retrievers + (said or ["Other words may help: shorter, more general, as the"
        " documentation would put it. search_text finds exact text."])  # fmt: skip


def _words(documentation: Documentation, query: str) -> str:
    try:
        [row] = documentation.call("parse_query", query=query)
    except PgragError:
        return query
    return str(row["words"])


def _content(
    request: _Request, read: Resolved | None, result: Result, notices: list[str]
) -> Passages:
    unresolved = {"library": request.library, "version": None, "version_reason": None}
    return Passages(
        **(read.content if read else unresolved),
        passages=[],
        cursor=None,
        search_id=None if result.search_id is None else str(result.search_id),
        notices=notices,
    )


search_docs = Tool(
    name="search_docs",
    title="Search the documentation of a library",
    description="Search the documentation of one library and get the best passages, whole,"
    " with breadcrumbs, url, version and ids to read further. It finds by words and by meaning"
    " together: use it first, for questions and for names of functions, options and error"
    " messages alike. Examples:\n"
    '- {"library": "react", "query": "clean up an effect"} reads the newest version\n'
    '- {"library": "react", "version": "18.2.0", "query": "useId"} reads 18.2.0, or'
    " another 18\n"
    '- {"library": "typescript", "version": "5.x", "query": "ReturnType example"} reads the'
    " newest 5\n"
    "The reply says which version was read and why.",
    arguments=SearchDocs,
    output=Passages,
    run=partial(_answered, Search.search),
)


@tool("keyword_search", "Search by words alone", Passages)
def keyword_search(documentation: Documentation, request: SearchByWords) -> Reply:
    """Find passages that contain the words of the query (BM25), in one library or, without
    library, in all of them. Use it for exact names, flags and error codes when search_docs returns
    passages that are only similar.
    """
    return _answered(Search.keyword_search, documentation, request)


@tool("semantic_search", "Search by meaning alone", Passages)
def semantic_search(documentation: Documentation, request: SearchByMeaning) -> Reply:
    """Find passages that mean what the query means, whatever words they use, in one library or,
    without library, in all of them. Use it when the words of the documentation are unknown.
    """
    return _answered(Search.semantic_search, documentation, request)
