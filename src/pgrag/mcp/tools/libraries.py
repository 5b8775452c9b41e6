"""What there is to search: libraries and their versions."""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated

from pydantic import BaseModel, Field

from pgrag.mcp.documentation import UNVERSIONED, Documentation, shown
from pgrag.mcp.replies import Block, fit, plural
from pgrag.mcp.tool import (
    DEFAULT_BUDGET,
    Arguments,
    Cursor,
    LibraryName,
    Reply,
    TokenBudget,
    Tool,
)

_NONE = "No library is indexed yet. Somebody must run: pgrag index LIBRARY SOURCE."
_NO_MORE = "There are no more libraries."
_MOST_VERSIONS = 100
"""So many versions are listed; nobody reads more."""


class ListLibraries(Arguments):
    """Nothing has to be said; the cursor is for a great many."""

    token_budget: TokenBudget = DEFAULT_BUDGET
    cursor: Cursor = None


class Library(BaseModel):
    """A documentation set."""

    library: str = Field(description="Its name, as the other tools take it.")
    newest: str = Field(description="The version that is read where none is named.")
    versions: int = Field(description="How many versions are indexed.")
    pages: int = Field(description="Pages in all of them.")
    language: str = Field(description="Language of its full-text search.")


class Libraries(BaseModel):
    """Every documentation set."""

    libraries: list[Library]
    cursor: str | None = Field(description="For the next ones; null where there are no more.")


class FindVersion(Arguments):
    """Which version a wish stands for."""

    library: LibraryName
    target_version: Annotated[
        str | None,
        Field(
            max_length=200,
            description="What is wanted: a label (18.2.0), a range (18, 5.x, ^2.1, >=2 <3) or"
            " `latest`. Leave it out for the newest release.",
        ),
    ] = None


class Version(BaseModel):
    """One version of a library."""

    version: str = Field(description="Its label; `-` for documentation without versions.")
    is_newest: bool = Field(description="Whether it is read where none is named.")
    pages: int


class FoundVersion(BaseModel):
    """The version that fits, why, and which there are."""

    library: str
    version: str = Field(description="Its label; `-` for documentation without versions.")
    reason: str = Field(description="Why this one.")
    versions: list[Version] = Field(description="Releases first, the newest on top.")
    more_versions: int = Field(description="How many are not listed.")


def _list_libraries(documentation: Documentation, given: ListLibraries) -> Reply:
    rows = documentation.call("libraries")
    left = [row for row in rows if given.cursor is None or row["library"] > given.cursor]
    libraries = [
        Library(
            library=row["library"],
            newest=shown(row["newest"] or ""),
            versions=row["versions"],
            pages=row["pages"],
            language=row["language"],
        )
        for row in sorted(left, key=itemgetter("library"))
    ]
    if not libraries:
        return Reply(_NONE if not rows else _NO_MORE, Libraries(libraries=[], cursor=None))

    def cursor(count: int) -> str | None:
        return None if count == len(libraries) else libraries[count - 1].library

    def foot(count: int) -> str:
        following = cursor(count)
        more = f'\nMore: the same call with cursor="{following}".' if following else ""
        return f"Search one with search_docs(library, query).{more}"

    blocks = [Block(0, "", _line(item), is_quoted=False) for item in libraries]
    head = f"# {plural(len(rows), 'library')}"
    fitted = fit(head, blocks, foot, given.token_budget, separator="\n")
    count = len(fitted.blocks)
    return Reply(fitted.text, Libraries(libraries=libraries[:count], cursor=cursor(count)))


def _line(item: Library) -> str:
    if not item.versions:
        return f"- **{item.library}**: nothing is indexed"
    if item.versions == 1 and item.newest == UNVERSIONED:
        return f"- **{item.library}**: without versions, {plural(item.pages, 'page')}"
    versions = f"newest {item.newest}, {plural(item.versions, 'version')}"
    return f"- **{item.library}**: {versions}, {plural(item.pages, 'page')}"


def _find_version(documentation: Documentation, given: FindVersion) -> Reply:
    found = documentation.resolve(given.library, given.target_version)
    rows = documentation.call("library_versions", library=given.library)
    listed = [
        Version(version=shown(row["version"]), is_newest=row["is_newest"], pages=row["pages"])
        for row in rows[:_MOST_VERSIONS]
    ]
    more = len(rows) - len(listed)
    chosen = shown(found.label)
    lines = [
        f"# {found.library}: version {chosen}",
        "",
        f"Why: {found.reason}. Give version={chosen!r} to read it.",
        "",
        "Indexed versions: "
        + ", ".join(f"**{item.version}**" if item.version == chosen else item.version
                    for item in listed)
        + (f" and {more} more" if more else "")
        + ".",
    ]  # fmt: skip
    return Reply(
        "\n".join(lines),
        FoundVersion(
            library=found.library,
            version=chosen,
            reason=found.reason,
            versions=listed,
            more_versions=more,
        ),
    )


TOOLS = (
    Tool(
        name="list_libraries",
        title="List libraries",
        description="List every library whose documentation can be searched here, with its newest"
        " version. Call it when you do not know a library's exact name, or to see what there is.",
        arguments=ListLibraries,
        output=Libraries,
        run=_list_libraries,
    ),
    Tool(
        name="find_version",
        title="Find a version of a library",
        description="Say which indexed version of a library fits a wish, why, and which versions"
        " there are. Use it when the version matters: for a project pinned to one, or before"
        " comparing two. Searching does not need it: search_docs takes the same wishes.",
        arguments=FindVersion,
        output=FoundVersion,
        run=_find_version,
    ),
)
