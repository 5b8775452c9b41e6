"""The libraries that can be searched, and their versions."""

from operator import itemgetter

from pydantic import BaseModel, Field

from pgrag.mcp.corpus import UNVERSIONED, Documentation, shown
from pgrag.mcp.replies import Block, fit_page, plural
from pgrag.mcp.tool import (
    DEFAULT_BUDGET,
    Arguments,
    Cursor,
    LibraryName,
    Reply,
    TokenBudget,
    VersionLabel,
    optional_text,
    tool,
)

_NONE = "No library is indexed yet. Somebody must run: pgrag index LIBRARY SOURCE."
_NO_MORE = "There are no more libraries."
_MOST_VERSIONS = 100
"""Versions that are listed."""


class ListLibraries(Arguments):
    """No required argument; the cursor is for long lists."""

    token_budget: TokenBudget = DEFAULT_BUDGET
    cursor: Cursor = None


class Library(BaseModel):
    """A documentation set."""

    library: str = Field(description="Its name, as the other tools take it.")
    newest: VersionLabel = Field(description="The version that is read where none is named.")
    versions: int = Field(description="How many versions are indexed.")
    pages: int = Field(description="Pages in all of them.")
    language: str = Field(description="Language of its full-text search.")


class Libraries(BaseModel):
    """Every documentation set."""

    libraries: list[Library]
    cursor: str | None = Field(description="For the next ones; null where there are no more.")


class FindVersion(Arguments):
    """A version to resolve."""

    library: LibraryName
    target_version: str | None = optional_text(
        200,
        "What is wanted: a label (18.2.0), a range (18, 5.x, ^2.1, >=2 <3) or"
        " `latest`. Leave it out for the newest release.",
    )


class Version(BaseModel):
    """One version of a library."""

    version: VersionLabel = Field(description="Its label; `-` for documentation without versions.")
    is_newest: bool = Field(description="Whether it is read where none is named.")
    pages: int


class FoundVersion(BaseModel):
    """The version that fits, why, and which there are."""

    library: str
    version: str = Field(description="Its label; `-` for documentation without versions.")
    reason: str = Field(description="Why this one.")
    versions: list[Version] = Field(description="Releases first, the newest on top.")
    more_versions: int = Field(description="How many are not listed.")


@tool("list_libraries", "List libraries", Libraries)
def list_libraries(documentation: Documentation, request: ListLibraries) -> Reply:
    """List every library whose documentation can be searched here, with its newest version. Call
    it when you do not know a library's exact name, or to see what there is.
    """
    rows = documentation.call("libraries")
    libraries = [
        Library.model_validate(row)
        for row in sorted(rows, key=itemgetter("library"))
        if request.cursor is None or row["library"] > request.cursor
    ]
    if not libraries:
        return Reply(_NONE if not rows else _NO_MORE, Libraries(libraries=[], cursor=None))
    page = fit_page(
        f"# {plural(len(rows), 'library')}",
        [Block(0, "", _line(item), is_quoted=False) for item in libraries],
        "Search one with search_docs(library, query).",
        lambda count: None if count == len(libraries) else libraries[count - 1].library,
        request.token_budget,
        separator="\n",
    )
    libraries = libraries[: len(page.blocks)]
    return Reply(page.text, Libraries(libraries=libraries, cursor=page.cursor))


def _line(item: Library) -> str:
    if not item.versions:
        return f"- **{item.library}**: nothing is indexed"
    if item.versions == 1 and item.newest == UNVERSIONED:
        return f"- **{item.library}**: without versions, {plural(item.pages, 'page')}"
    versions = f"newest {item.newest}, {plural(item.versions, 'version')}"
    return f"- **{item.library}**: {versions}, {plural(item.pages, 'page')}"


@tool("find_version", "Find a version of a library", FoundVersion)
def find_version(documentation: Documentation, request: FindVersion) -> Reply:
    """Say which indexed version of a library fits a wish, why, and which versions there are. Use
    it when the version matters: for a project pinned to one, or before comparing two. Searching
    does not need it: search_docs takes the same wishes.
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
