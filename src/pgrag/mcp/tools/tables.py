"""Tables from the properties of pages."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, Field

from pgrag.db import collected_notices
from pgrag.errors import InvalidCursor
from pgrag.mcp.documentation import Documentation, shown
from pgrag.mcp.replies import Block, fit, plural, unquotable
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
_NO_ROW = "No page fits. Leave out FROM, or conditions of WHERE."
_MOST_ROWS = 100_000


class QueryPages(Arguments):
    """A question to the properties of pages."""

    library: LibraryName
    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=10_000,
            description="TABLE, LIST or TASK in Dataview's language: TABLE status, due FROM #tag or"
            ' "folder" WHERE priority > 3 SORT due DESC. Names are keys of the front matter, or'
            " file.name, file.link, file.tags …",
            examples=["TABLE status FROM #project WHERE due < date(today) SORT due"],
        ),
    ]
    version: VersionWish = None
    limit: Annotated[int, Field(ge=1, le=1000, description="At most so many rows.")] = 50
    token_budget: TokenBudget = DEFAULT_BUDGET
    cursor: Cursor = None


class PageRow(BaseModel):
    """A page, a task or a group."""

    page_id: int | None = Field(description="For get_page; null for a group.")
    page: str | None = Field(description="Path in the source.")
    line: int | None = Field(description="Of a task.")
    values: list[Any] = Field(description="In the order of the columns.")


class PageTable(BaseModel):
    """What a question to properties has found."""

    library: str
    version: str
    version_reason: str
    columns: list[str]
    rows: list[PageRow]
    cursor: str | None = Field(description="For the next rows; null where there are no more.")
    notices: list[str]


def _query_pages(documentation: Documentation, given: QueryPages) -> Reply:
    read = documentation.resolve(given.library, given.version)
    skipped = _skipped(given.cursor)
    with collected_notices() as notices:
        rows = documentation.app.database.call_within(
            _TIMEOUT_MS,
            "query_pages",
            query=given.query,
            library=given.library,
            version=read.label,
            match_count=skipped + given.limit + 1,
        )
    is_more = len(rows) > skipped + given.limit
    rows = rows[skipped : skipped + given.limit]
    columns: list[str] = rows[0]["columns"] if rows else []

    def cursor(count: int) -> str | None:
        return str(skipped + count) if is_more or count < len(rows) else None

    def foot(count: int) -> str:
        following = cursor(count)
        more = f'\nMore: the same call with cursor="{following}".' if following else ""
        return f"</passage>\n\nRead one with get_page(page_id).{more}"

    said = [f"# {plural(len(rows), 'row')}", f"From: {read}", *(f"Note: {n}" for n in notices)]
    if rows:
        header = ["<passage>", _table_row(["page_id", *columns]), "|---" * (len(columns) + 1) + "|"]
        blocks = [
            Block(0, "", _table_row([row["page_id"], *row["values"]]), is_quoted=False)
            for row in rows
        ]
        fitted = fit("\n".join([*said, *header]), blocks, foot, given.token_budget, separator="\n")
        count = len(fitted.blocks)
        text = fitted.text.replace("---|\n\n|", "---|\n|", 1)
        text = text.replace(said[0], f"# {plural(count, 'row')}", 1)
    else:
        nothing = "There are no more rows." if skipped else _NO_ROW
        text, count = "\n".join([*said, "", nothing]), 0
    content = PageTable(
        library=read.library,
        version=shown(read.label),
        version_reason=read.reason,
        columns=columns,
        rows=[
            PageRow(page_id=row["page_id"], page=row["key"], line=row["line"], values=row["values"])
            for row in rows[:count]
        ],
        cursor=cursor(count) if rows else None,
        notices=notices,
    )
    return Reply(text, content)


def _skipped(cursor: str | None) -> int:
    """How many rows were given already."""
    if cursor is None:
        return 0
    if not cursor.isdecimal() or int(cursor) > _MOST_ROWS:
        raise InvalidCursor(f"{cursor[:100]!r} is no cursor of this query.")
    return int(cursor)


def _table_row(values: list[Any]) -> str:
    return "| " + " | ".join(_cell(value) for value in values) + " |"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return unquotable(" ".join(text.split()).replace("|", "\\|"))


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="query_pages",
        title="Query the properties of pages",
        description="List pages or tasks by the properties in their front matter (status, tags,"
        " dates …) as a table, in Dataview's language. Use it for inventories of notes; for"
        " questions use search_docs.",
        arguments=QueryPages,
        output=PageTable,
        run=_query_pages,
    ),
)
