"""Tools under the names that users of Context7 know, with their arguments.

There a library is named `/react`, a version of it `/react/18.2.0`. Names may contain slashes, so
the longest indexed name wins.
"""

import re
from difflib import SequenceMatcher

from pydantic import AliasChoices, BaseModel, Field

from pgrag.ground.calls import Row
from pgrag.ground.errors import InvalidInput
from pgrag.mcp import fields
from pgrag.mcp.corpus import Documentation
from pgrag.mcp.tool import Arguments, Reply, tool
from pgrag.mcp.tools.searching import Passages, SearchDocs, search_docs

_MOST_LIBRARIES = 10
_MOST_VERSIONS = 20
_PASSAGES = 20
_LIKENESS = 0.35
"""The similarity from which a name matches; 1 is equal."""

_OVERVIEW = "introduction overview getting started installation"
"""The query if no topic is given."""


class ResolveLibraryId(Arguments):
    """The name of a library or product."""

    library_name: str = Field(
        min_length=1,
        max_length=200,
        validation_alias="libraryName",
        description="Name of the library or product: Next.js.",
    )
    query: str | None = Field(
        default=None,
        max_length=10_000,
        validation_alias=AliasChoices("query", "userQuery", "question"),
        description="Your question; libraries are chosen by name alone.",
    )


class LikelyLibrary(BaseModel):
    """A library that the name may mean."""

    id: str = Field(description="For query-docs.")
    library: str = Field(description="Its name, as the other tools take it.")
    versions: list[fields.VersionLabel] = Field(description="Releases first, the newest on top.")
    documents: int = Field(description="Passages in all versions.")


class LikelyLibraries(BaseModel):
    """The likeliest first."""

    libraries: list[LikelyLibrary]


class QueryDocs(Arguments):
    """A question to a library."""

    library_id: str = Field(
        min_length=1,
        max_length=400,
        validation_alias=AliasChoices(
            "libraryId", "context7CompatibleLibraryID", "libraryID", "libraryName"
        ),
        description="Id from resolve-library-id: /react, or /react/18.2.0 for a version.",
    )
    query: fields.Query = Field(
        validation_alias=AliasChoices("query", "userQuery", "question"),
        description="What to look for, one topic a call.",
    )
    tokens: int = Field(
        default=fields.DEFAULT_BUDGET, ge=1, description="The maximum number of tokens, to 20,000."
    )


class GetLibraryDocs(QueryDocs):
    """The same, with the arguments of older clients; a page has the size of a reply."""

    query: fields.Query = Field(
        default=_OVERVIEW, validation_alias=AliasChoices("topic", "query", "userQuery", "question")
    )
    page: int = Field(default=1, ge=1, le=10)
    mode: str | None = Field(default=None, max_length=20)


@tool("resolve-library-id", "Find a library by its name", LikelyLibraries)
def resolve_library_id(documentation: Documentation, request: ResolveLibraryId) -> Reply:
    """Turn the name of a library or product into the id that query-docs takes. The tools
    search_docs and list_libraries need no ids.
    """
    rows = documentation.call("libraries")
    likely = sorted(rows, key=lambda row: (-_likeness(row, request.library_name), row["library"]))
    meant = [row for row in likely if _likeness(row, request.library_name) >= _LIKENESS]
    libraries = [_described(documentation, row) for row in meant[:_MOST_LIBRARIES]]
    if libraries:
        lines = ["Available Libraries:"]
    elif rows:
        names = ", ".join(f"/{row['library']}" for row in likely[:_MOST_LIBRARIES])
        lines = [f"No library is called like {request.library_name!r}. There are: {names}."]
    else:
        lines = ["No library is indexed yet."]
    for item in libraries:
        lines += [
            "",
            f"- Title: {item.library}",
            f"- Context7-compatible library ID: {item.id}",
            f"- Code Snippets: {item.documents}",
            f"- Versions: {', '.join(item.versions)}",
        ]
    return Reply("\n".join(lines), LikelyLibraries(libraries=libraries))


@tool("query-docs", "Query the documentation of a library", Passages)
def query_docs(documentation: Documentation, request: QueryDocs) -> Reply:
    """The same as search_docs, for a library id of resolve-library-id: the best passages about a
    topic, whole, with their addresses.
    """
    return search_docs.run(documentation, _question(documentation, request))


@tool("get-library-docs", "Query the documentation of a library", Passages, is_listed=False)
def get_library_docs(documentation: Documentation, request: GetLibraryDocs) -> Reply:
    """The former name of query-docs."""
    asked = _question(documentation, request)
    reply = search_docs.run(documentation, asked)
    for page in range(1, request.page):
        cursor = getattr(reply.content, "cursor", None)
        if cursor is None:
            raise InvalidInput(
                f"There are only {page} pages of passages for this query.",
                hint="Use what you have, or ask in other words.",
            )
        reply = search_docs.run(documentation, asked.model_copy(update={"cursor": cursor}))
    return reply


def _question(documentation: Documentation, request: QueryDocs) -> SearchDocs:
    library, version = _parse_id(documentation, request.library_id)
    return SearchDocs(
        library=library,
        version=version,
        query=request.query,
        top_k=_PASSAGES,
        token_budget=min(max(request.tokens, fields.SMALLEST_BUDGET), fields.LARGEST_BUDGET),
    )


def _parse_id(documentation: Documentation, library_id: str) -> tuple[str, str | None]:
    """Split an id into library and version; the search refuses an unknown library."""
    library_id = library_id.strip().strip("/").lower()
    known = {row["library"] for row in documentation.call("libraries")}
    parts = library_id.split("/")
    for count in range(len(parts), 0, -1):
        name = "/".join(parts[:count])
        if name in known:
            return name, "/".join(parts[count:]) or None
    name, _, version = library_id.partition("@")
    return name, version or None


def _described(documentation: Documentation, row: Row) -> LikelyLibrary:
    versions = documentation.call("library_versions", library=row["library"])
    return LikelyLibrary(
        id=f"/{row['library']}",
        library=row["library"],
        versions=[version["version"] for version in versions[:_MOST_VERSIONS]],
        documents=row["documents"],
    )


def _likeness(row: Row, name: str) -> float:
    """Similarity of a library's name to another, 0 to 1: Next.js equals nextjs."""
    letters, names = _letters(name), (row["library"], row["library"].rpartition("/")[2])
    if not letters:
        return 0.0
    return max(
        0.5 * (candidate.startswith(letters) or letters.startswith(candidate))
        + 0.5 * SequenceMatcher(None, candidate, letters).ratio()
        for candidate in map(_letters, names)
    )


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())
