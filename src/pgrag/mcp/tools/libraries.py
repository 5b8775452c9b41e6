"""The libraries that can be searched, their versions, and what they are about."""

from operator import itemgetter
from typing import Self

from pydantic import BaseModel, Field, model_validator

from pgrag.ground.calls import Row
from pgrag.ground.errors import UnknownLibrary
from pgrag.mcp import fields
from pgrag.mcp.corpus import UNVERSIONED, Documentation, shown
from pgrag.mcp.replies import fit_page, line, on_one_line, plural
from pgrag.mcp.tool import FromVersion, Paged, Reply, tool

_NONE = "No library is indexed yet. Somebody must run: pgrag index LIBRARY SOURCE."
_NO_MORE = "There are no more libraries."
_NO_WORD = "No library has a word of the query. Leave the query out to list all of them."
_MOST_LIBRARIES = 10
"""The maximum number of libraries for a query, or like a name."""
_MOST_VERSIONS = 100
_TOPICS = {"topic": "topics", "type": "types", "path": "folders", "tags": "tags"}
_MOST_TOPICS = 8


class FindLibrary(Paged):
    """A library, a question, or nothing for all libraries."""

    library: fields.AnyLibrary = Field(default=None, description="Also a near name.")
    version: fields.VersionWish = Field(default=None, description="To resolve: 18.2.0, 5.x.")
    query: str | None = fields.optional_text(10_000, "Which may answer this?")

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        if self.query is not None and self.library is not None:
            raise ValueError("give library or query, not both; search_docs asks a library")
        if self.version is not None and self.library is None:
            raise ValueError("version needs library")
        return self


class Library(BaseModel):
    """A documentation set."""

    library: str = Field(description="Its name, as the other tools take it.")
    newest: fields.VersionLabel = Field(description="The version that is read by default.")
    versions: int = Field(description="How many versions are indexed.")
    pages: int = Field(description="Pages in all of them.")
    language: str = Field(description="Language of its full-text search.")
    title: str | None = Field(description="With a query, the title of its front page; else null.")
    score: float | None = Field(description="With a query: the share of it found, to 1; else null.")


class Libraries(BaseModel):
    """Every documentation set."""

    libraries: list[Library]
    cursor: str | None = Field(description="For the next libraries; null at the end.")


class FoundLibrary(FromVersion):
    """A library: the version that would be read and why, all versions, and what it is about."""

    versions: list[str] = Field(description="Releases first, the newest on top.")
    more_versions: int = Field(description="How many are not listed.")
    pages: int = Field(description="Of the version.")
    topics: dict[str, list[str]] = Field(description="Values of the filters, most pages first.")


@tool("find_library", "Find a library and its versions", Libraries | FoundLibrary, is_default=True)
def find_library(documentation: Documentation, request: FindLibrary) -> Reply:
    """Find libraries, packages and products that have documentation here: list them, resolve a name
    and a version, see versions and topics.
    """
    if request.library is None:
        return _libraries(documentation, request)
    try:
        return _library(documentation, request.library, request.version)
    except UnknownLibrary:
        if documentation.meant(request.library) is not None:
            raise  # the tool looks that one up
        near = documentation.nearest(request.library, _MOST_LIBRARIES)
        if not near:
            raise
        return _libraries(documentation, request, near)


def _library(documentation: Documentation, library: str, version: str | None) -> Reply:
    read = documentation.resolve(library, version)
    rows = documentation.call("library_versions", library=library)
    facets = documentation.call(
        "facets", query=None, library=read.library, version=read.label, value_count=_MOST_TOPICS
    )
    topics: dict[str, list[str]] = {}
    for row in facets:
        if row["facet"] in _TOPICS and row["value"]:
            topics.setdefault(row["facet"], []).append(row["value"])
    content = FoundLibrary(
        **read.content,
        versions=[shown(row["version"]) for row in rows[:_MOST_VERSIONS]],
        more_versions=max(len(rows) - _MOST_VERSIONS, 0),
        pages=next((row["pages"] for row in rows if row["version"] == read.label), 0),
        topics=topics,
    )
    more = f" and {content.more_versions} more" if content.more_versions else ""
    lines = [
        f"# {content.library}: version {content.version}, {plural(content.pages, 'page')}",
        f"Why: {read.reason}. Indexed: {', '.join(content.versions)}{more}.",
        *(
            f"Its {_TOPICS[facet]}: {', '.join(map(on_one_line, values))}"
            for facet, values in topics.items()
        ),
    ]
    return Reply("\n".join(lines), content)


def _libraries(
    documentation: Documentation, request: FindLibrary, near: list[str] | None = None
) -> Reply:
    known = {row["library"]: row for row in documentation.call("libraries")}
    if near is None:
        rows = _listed(documentation, known, request.query)
    else:
        rows = [known[name] | {"title": None, "score": None} for name in near]
    following, names = rows, [row["library"] for row in rows]
    if request.cursor in names:
        following = rows[names.index(request.cursor) + 1 :]
    elif request.cursor is not None:
        # That library has been removed since.
        following = [row for row in rows if not request.query and row["library"] > request.cursor]
    libraries = [Library.model_validate(row) for row in following]
    if not libraries:
        none = _NO_WORD if known and not rows else _NO_MORE if known else _NONE
        return Reply(none, Libraries(libraries=[], cursor=None))
    head = f"# {plural(len(rows), 'library')}" + (" that may answer it" if request.query else "")
    if near is not None:
        head = f"No library is called {on_one_line(request.library or '')!r}. Near names:"
    page = fit_page(
        head,
        [line(_entry(item)) for item in libraries],
        "",
        lambda count: None if count == len(libraries) else libraries[count - 1].library,
        request.token_budget,
        separator="\n",
        before_more="",
    )
    if near is not None:
        # Prose: as data alone, near names would pass for the library that was asked for.
        return Reply(page.text)
    libraries = libraries[: len(page.blocks)]
    return Reply(page.text, Libraries(libraries=libraries, cursor=page.cursor))


def _listed(documentation: Documentation, known: dict[str, Row], query: str | None) -> list[Row]:
    """The libraries by name, or the best for a query, with title and score."""
    if query is None:
        rows = sorted(known.values(), key=itemgetter("library"))
        return [row | {"title": None, "score": None} for row in rows]
    return [
        known[row["library"]] | {"title": row["title"] or None, "score": row["score"]}
        for row in documentation.call("find_libraries", query=query, top_k=_MOST_LIBRARIES)
        if row["library"] in known
    ]


def _entry(item: Library) -> str:
    title = f" “{on_one_line(item.title)}”" if item.title else ""
    score = "" if item.score is None else f", score {item.score:.2f}"
    versions = f"newest {item.newest}, {plural(item.versions, 'version')}"
    if item.versions == 1 and item.newest == UNVERSIONED:
        versions = "without versions"
    held = f"{versions}, {plural(item.pages, 'page')}" if item.versions else "nothing is indexed"
    return f"- **{item.library}**{title}: {held}{score}"
