"""Lines of the sources that hold a text."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from pgrag.db import Row
from pgrag.mcp.documentation import Documentation, shown
from pgrag.mcp.replies import Block, fit, on_one_line
from pgrag.mcp.tool import (
    DEFAULT_BUDGET,
    Arguments,
    Cursor,
    LibraryName,
    Reply,
    TokenBudget,
    Tool,
    VersionWish,
)

_TIMEOUT_MS = 5000
_LONGEST_LINE = 600
"""Characters of a line that are shown, around its first match."""


class SearchText(Arguments):
    """What a line must hold, and where to look."""

    library: LibraryName
    pattern: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1000,
            description="What a line must hold, exactly.",
            examples=["useEffect("],
        ),
    ]
    version: VersionWish = None
    mode: Annotated[
        Literal["literal", "word", "regex"],
        Field(description="The text as it is, whole words, or a regular expression."),
    ] = "literal"
    case: Annotated[
        Literal["sensitive", "ignore", "smart"],
        Field(description="smart: ignore, unless the pattern has a capital letter."),
    ] = "smart"
    path: Annotated[
        str | None,
        Field(max_length=1000, description="Only these files: guide/, docs/*.md, **/a.md."),
    ] = None
    context: Annotated[int, Field(ge=0, le=10, description="Lines before and after.")] = 0
    limit: Annotated[int, Field(ge=1, le=200, description="At most so many lines.")] = 30
    token_budget: TokenBudget = DEFAULT_BUDGET
    cursor: Cursor = None


class Line(BaseModel):
    """A line that matches."""

    page_id: int = Field(description="For get_page.")
    id: int | None = Field(description="Of the passage that holds it, for read_document.")
    page: str = Field(description="Path in the source.")
    title: str
    line: int = Field(description="From 1.")
    content: str


class Lines(BaseModel):
    """Lines by page and number."""

    library: str
    version: str
    version_reason: str
    lines: list[Line]
    cursor: str | None = Field(description="For the next lines; null where there are no more.")


def _search_text(documentation: Documentation, given: SearchText) -> Reply:
    read = documentation.resolve(given.library, given.version)
    rows = documentation.app.database.call_in_time(
        "search_text",
        timeout_ms=_TIMEOUT_MS,
        pattern=given.pattern,
        library=given.library,
        version=read.label,
        mode=given.mode,
        case_mode=given.case,
        context=given.context,
        path=given.path,
        match_count=given.limit,
        after=given.cursor,
    )

    def cursor(count: int) -> str | None:
        is_all = count == len(rows) and len(rows) < given.limit
        return None if is_all or not rows else str(rows[count - 1]["cursor"])

    def foot(count: int) -> str:
        following = cursor(count)
        more = f'\nMore: the same call with cursor="{following}".' if following else ""
        return f"</passage>\n\nRead on: get_page(page_id), read_document(id).{more}"

    head = f"# Lines with {on_one_line(given.pattern)!r}\nFrom: {read}"
    if rows:
        fitted = fit(
            f"{head}\n<passage>", _line_blocks(rows), foot, given.token_budget, separator="\n"
        )
        text, count = fitted.text, len(fitted.blocks)
    else:
        text, count = f"{head}\n\n{_no_line(given)}", 0
    content = Lines(
        library=read.library,
        version=shown(read.label),
        version_reason=read.reason,
        lines=[
            Line(
                page_id=row["page_id"],
                id=row["document_id"],
                page=row["key"],
                title=row["title"],
                line=row["line"],
                content=_shortened(row),
            )
            for row in rows[:count]
        ],
        cursor=cursor(count),
    )
    return Reply(text, content)


def _line_blocks(rows: list[Row]) -> list[Block]:
    """Lines as grep shows them, below the page that they are of."""
    blocks = []
    page_id = None
    for row in rows:
        lines = []
        if row["page_id"] != page_id:
            page_id = row["page_id"]
            page = on_one_line(f"{row['key']}: {row['title']}")
            lines.append(f"[{page}, page_id={page_id}]")
        number = row["line"]
        before, after = row["lines_before"], row["lines_after"]
        lines += [
            f"{number - len(before) + place}- {line[:_LONGEST_LINE]}"
            for place, line in enumerate(before)
        ]
        document = f" (id={row['document_id']})" if row["document_id"] else ""
        lines.append(f"{number}: {_shortened(row)}{document}")
        lines += [
            f"{number + place}- {line[:_LONGEST_LINE]}" for place, line in enumerate(after, start=1)
        ]
        blocks.append(Block(row["document_id"] or 0, "", "\n".join(lines), is_quoted=False))
    return blocks


def _shortened(row: Row) -> str:
    """The line; of a very long one what stands around its first match."""
    line: str = row["content"]
    if len(line) <= _LONGEST_LINE:
        return line
    start = max(row["column"] - 1 - _LONGEST_LINE // 3, 0)
    end = start + _LONGEST_LINE
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def _no_line(given: SearchText) -> str:
    if given.cursor is not None:
        return "There are no more lines."
    is_cased = given.case == "sensitive" or (
        given.case == "smart" and given.pattern != given.pattern.lower()
    )
    ways = ['case="ignore"'] * is_cased + ["no path"] * (given.path is not None)
    ways += ['mode="literal"'] * (given.mode != "literal") + ["a shorter pattern", "search_docs"]
    return f"No line has it. Try {', '.join(ways)}."


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="search_text",
        title="Search for exact text",
        description="List the lines of a library's sources that hold a text exactly, as grep does,"
        " with page and line. Use it to check whether a name, flag or message occurs at all, and"
        " for regular expressions; for questions use search_docs.",
        arguments=SearchText,
        output=Lines,
        run=_search_text,
    ),
)
