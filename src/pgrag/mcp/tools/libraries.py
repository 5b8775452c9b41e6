"""The libraries that can be searched, and their versions."""

from operator import itemgetter

from pydantic import BaseModel, Field

from pgrag.ground.calls import Row
from pgrag.mcp import fields
from pgrag.mcp.corpus import UNVERSIONED, Documentation, shown
from pgrag.mcp.replies import fit_page, line, on_one_line, plural
from pgrag.mcp.tool import Arguments, Paged, Reply, tool

_NONE = "No library is indexed yet. Somebody must run: pgrag index LIBRARY SOURCE."
_NO_MORE = "There are no more libraries."
_NO_WORD = "No library has a word of the query. Leave the query out to list all of them."
_MOST_LIBRARIES = 10
"""The maximum number of libraries for a query."""
_MOST_VERSIONS = 100


class ListLibraries(Paged):
    """No required argument; the cursor is for long lists."""

    query: str | None = fields.optional_text(
        10_000, "A question: only those that may answer it, the best first."
    )


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


class FindVersion(Arguments):
    """A version to resolve."""

    library: fields.LibraryName
    target_version: str | None = fields.optional_text(
        200,
        "A label (18.2.0), a range (18, 5.x, ^2.1, >=2 <3) or `latest`. Leave it out for the newest"
        " release.",
    )


class Version(BaseModel):
    """One version of a library."""

    version: fields.VersionLabel = Field(description="`-` for documentation without versions.")
    is_newest: bool = Field(description="Whether it is read by default.")
    pages: int


class FoundVersion(BaseModel):
    """A version, why it was chosen, and all versions."""

    library: str
    version: str = Field(description="Its label; `-` for documentation without versions.")
    reason: str = Field(description="Why this one.")
    versions: list[Version] = Field(description="Releases first, the newest on top.")
    more_versions: int = Field(description="How many are not listed.")


@tool("list_libraries", "List libraries", Libraries)
def list_libraries(documentation: Documentation, request: ListLibraries) -> Reply:
    """List every library that can be searched here, with its newest version; with a query, those
    that may answer it. Call it when you do not know a library's exact name.
    """
    known = {row["library"]: row for row in documentation.call("libraries")}
    rows = _listed(documentation, known, request.query)
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
    page = fit_page(
        f"# {plural(len(rows), 'library')}" + (" that may answer it" if request.query else ""),
        [line(_entry(item)) for item in libraries],
        "Search one with search_docs(library, query).",
        lambda count: None if count == len(libraries) else libraries[count - 1].library,
        request.token_budget,
        separator="\n",
    )
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


@tool("find_version", "Find a version of a library", FoundVersion)
def find_version(documentation: Documentation, request: FindVersion) -> Reply:
    """Say which indexed version of a library a label or range resolves to, why, and which versions
    there are. Use it when the version matters: for a project pinned to one, or before comparing
    two. Searching does not need it: search_docs takes the same labels and ranges.
    """
    read = documentation.resolve(request.library, request.target_version)
    rows = documentation.call("library_versions", library=request.library)
    content = FoundVersion(
        library=read.library,
        version=shown(read.label),
        reason=read.reason,
        versions=[Version.model_validate(row) for row in rows[:_MOST_VERSIONS]],
        more_versions=max(len(rows) - _MOST_VERSIONS, 0),
    )
    labels = ", ".join(
        f"**{item.version}**" if item.version == content.version else item.version
        for item in content.versions
    )
    more = f" and {content.more_versions} more" if content.more_versions else ""
    lines = [
        f"# {read.library}: version {content.version}",
        f"Why: {read.reason}. Give version={content.version!r} to read it.",
        f"Indexed versions: {labels}{more}.",
    ]
    return Reply("\n\n".join(lines), content)
