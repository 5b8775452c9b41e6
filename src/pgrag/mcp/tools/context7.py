"""Tools under the names that users of Context7 know, with their arguments.

A library is named `/react` there, a version of it `/react/18.2.0`. Names may contain slashes, so
the longest name that is indexed counts.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Annotated

from pydantic import AliasChoices, BaseModel, Field

from pgrag.db import Row
from pgrag.errors import InvalidInput
from pgrag.mcp.documentation import Documentation, shown
from pgrag.mcp.tool import (
    DEFAULT_BUDGET,
    LARGEST_BUDGET,
    SMALLEST_BUDGET,
    Arguments,
    Query,
    Reply,
    Tool,
)
from pgrag.mcp.tools import searching
from pgrag.mcp.tools.searching import Passages, SearchDocs

_MOST_LIBRARIES = 10
_MOST_VERSIONS = 20
_PASSAGES = 20
_LIKENESS = 0.35
"""A name less like than this is another one; 1 is the same."""

_OVERVIEW = "introduction overview getting started installation"
"""What is looked for where no topic is given."""


_SEARCH = next(tool for tool in searching.TOOLS if tool.name == "search_docs")


class ResolveLibraryId(Arguments):
    """A name as people say it."""

    library_name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=200,
            validation_alias="libraryName",
            description="Name of the library or product: Next.js.",
        ),
    ]
    query: Annotated[
        str | None,
        Field(
            max_length=10_000,
            validation_alias=AliasChoices("query", "userQuery", "question"),
            description="What it is about; libraries are chosen by their names.",
        ),
    ] = None


class FoundLibrary(BaseModel):
    """A library that the name may mean."""

    id: str = Field(description="For query-docs.")
    library: str = Field(description="Its name, as the other tools take it.")
    versions: list[str] = Field(description="Releases first, the newest on top.")
    documents: int = Field(description="Passages in all versions.")


class FoundLibraries(BaseModel):
    """The likeliest first."""

    libraries: list[FoundLibrary]


class QueryDocs(Arguments):
    """A question to a library."""

    library_id: Annotated[
        str,
        Field(
            min_length=1,
            max_length=400,
            validation_alias=AliasChoices(
                "libraryId", "context7CompatibleLibraryID", "libraryID", "libraryName"
            ),
            description="Id from resolve-library-id: /react, or /react/18.2.0 for a version.",
        ),
    ]
    query: Annotated[
        Query,
        Field(
            validation_alias=AliasChoices("query", "userQuery", "question"),
            description="What to look for, one topic a call.",
        ),
    ]
    tokens: Annotated[
        int, Field(ge=1, description="At most so many tokens of reply, up to 20,000.")
    ] = DEFAULT_BUDGET


class GetLibraryDocs(QueryDocs):
    """The same with what older clients send; a page has the size of a reply."""

    query: Annotated[
        Query, Field(validation_alias=AliasChoices("topic", "query", "userQuery", "question"))
    ] = _OVERVIEW
    page: Annotated[int, Field(ge=1, le=10)] = 1
    mode: Annotated[str | None, Field(max_length=20)] = None


def _resolve_library_id(documentation: Documentation, given: ResolveLibraryId) -> Reply:
    rows = documentation.call("libraries")
    likely = sorted(rows, key=lambda row: (-_likeness(row, given.library_name), row["library"]))
    meant = [row for row in likely if _likeness(row, given.library_name) >= _LIKENESS]
    found = [_described(documentation, row) for row in meant[:_MOST_LIBRARIES]]
    if found:
        lines = ["Available Libraries:"]
    elif rows:
        names = ", ".join(f"/{row['library']}" for row in likely[:_MOST_LIBRARIES])
        lines = [f"No library is called like {given.library_name!r}. There are: {names}."]
    else:
        lines = ["No library is indexed yet."]
    for item in found:
        lines += [
            "",
            f"- Title: {item.library}",
            f"- Context7-compatible library ID: {item.id}",
            f"- Code Snippets: {item.documents}",
            f"- Versions: {', '.join(item.versions)}",
        ]
    return Reply("\n".join(lines), FoundLibraries(libraries=found))


def _query_docs(documentation: Documentation, given: QueryDocs) -> Reply:
    return _SEARCH.run(documentation, _question(documentation, given))


def _get_library_docs(documentation: Documentation, given: GetLibraryDocs) -> Reply:
    asked = _question(documentation, given)
    reply = _SEARCH.run(documentation, asked)
    for page in range(1, given.page):
        cursor = getattr(reply.content, "cursor", None)
        if cursor is None:
            raise InvalidInput(
                f"There are no more than {page} pages about it.",
                hint="Go on with what you have, or ask in other words.",
            )
        reply = _SEARCH.run(documentation, asked.model_copy(update={"cursor": cursor}))
    return reply


def _question(documentation: Documentation, given: QueryDocs) -> SearchDocs:
    library, version = _parse_id(documentation, given.library_id)
    return SearchDocs(
        library=library,
        version=version,
        query=given.query,
        limit=_PASSAGES,
        token_budget=min(max(given.tokens, SMALLEST_BUDGET), LARGEST_BUDGET),
    )


def _parse_id(documentation: Documentation, library_id: str) -> tuple[str, str | None]:
    """The library and version of an id; what is no library is left to the search to refuse."""
    wanted = library_id.strip().strip("/").lower()
    known = {row["library"] for row in documentation.call("libraries")}
    parts = wanted.split("/")
    for count in range(len(parts), 0, -1):
        name = "/".join(parts[:count])
        if name in known:
            return name, "/".join(parts[count:]) or None
    name, _, version = wanted.partition("@")
    return name, version or None


def _described(documentation: Documentation, row: Row) -> FoundLibrary:
    versions = documentation.call("library_versions", library=row["library"])
    return FoundLibrary(
        id=f"/{row['library']}",
        library=row["library"],
        versions=[shown(version["version"]) for version in versions[:_MOST_VERSIONS]],
        documents=row["documents"],
    )


def _likeness(row: Row, name: str) -> float:
    """How like a library's name is to one that people say, 0 to 1: Next.js is nextjs."""
    wanted, names = _letters(name), (row["library"], row["library"].rpartition("/")[2])
    if not wanted:
        return 0.0
    return max(
        0.5 * (candidate.startswith(wanted) or wanted.startswith(candidate))
        + 0.5 * SequenceMatcher(None, candidate, wanted).ratio()
        for candidate in map(_letters, names)
    )


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


TOOLS = (
    Tool(
        name="resolve-library-id",
        title="Find a library by its name",
        description="Turn the name of a library or product, as people say it, into the id that"
        " query-docs takes. The tools search_docs and list_libraries do without ids.",
        arguments=ResolveLibraryId,
        output=FoundLibraries,
        run=_resolve_library_id,
    ),
    Tool(
        name="query-docs",
        title="Query the documentation of a library",
        description="The same as search_docs, for a library id of resolve-library-id: the best"
        " passages about a topic, whole, with their addresses.",
        arguments=QueryDocs,
        output=Passages,
        run=_query_docs,
    ),
    Tool(
        name="get-library-docs",
        title="Query the documentation of a library",
        description="What query-docs was called before.",
        arguments=GetLibraryDocs,
        output=Passages,
        run=_get_library_docs,
        is_listed=False,
    ),
)
