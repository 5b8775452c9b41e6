"""Tables from the properties of pages."""

import json
from typing import Any

from pydantic import BaseModel, Field

from pgrag.ground.errors import InvalidCursor
from pgrag.ground.notices import collected_notices
from pgrag.ground.quoting import quotable
from pgrag.mcp import fields
from pgrag.mcp.corpus import Documentation
from pgrag.mcp.replies import fit_page, line, notes, plural
from pgrag.mcp.tool import FromVersion, Paged, Reply, tool

_TIMEOUT_MS = 5000
_NO_ROW = "No page fits. Leave out FROM, or conditions of WHERE."
_MOST_ROWS = 100_000


class QueryPages(Paged):
    """A query over the properties of pages."""

    library: fields.LibraryName
    query: str = Field(
        min_length=1,
        max_length=10_000,
        description='TABLE status, due FROM #tag or "folder" WHERE priority > 3 SORT due DESC; also'
        " LIST, TASK; file.name, file.tags.",
        examples=["TABLE status FROM #project WHERE due < date(today) SORT due"],
    )
    version: fields.VersionWish = None
    top_k: int = Field(default=50, ge=1, le=1000)


class PageRow(BaseModel):
    """A page, a task or a group."""

    page_id: int | None = Field(description="For read_docs; null for a group.")
    page: str | None = Field(validation_alias="key", description="Path in the source.")
    line: int | None = Field(description="Of a task.")
    values: list[Any] = Field(description="In the order of the columns.")


class PageTable(FromVersion):
    """The rows of a query over properties."""

    columns: list[str]
    rows: list[PageRow]
    cursor: str | None = Field(description="For the next rows; null at the end.")
    notices: list[str]


@tool("query_pages", "Query the properties of pages", PageTable, is_default=True, is_costly=True)
def query_pages(documentation: Documentation, request: QueryPages) -> Reply:
    """List pages, notes or tasks by front matter (status, tags, dates): a table, by a query in
    Dataview's language.
    """
    read = documentation.resolve(request.library, request.version)
    skipped = _skipped(request.cursor)
    with collected_notices() as notices:
        rows = documentation.app.database.call_within(
            _TIMEOUT_MS, "query_pages", query=request.query, library=request.library,
            version=read.label, top_k=skipped + request.top_k + 1,
        )  # fmt: skip
    is_more = len(rows) > skipped + request.top_k
    rows = rows[skipped : skipped + request.top_k]
    columns: list[str] = rows[0]["columns"] if rows else []

    def cursor(count: int) -> str | None:
        return str(skipped + count) if is_more or count < len(rows) else None

    head = [
        f"# {plural(len(rows), 'row')}",
        f"From: {read}",
        *notes(notices),
    ]
    content = PageTable(**read.content, columns=columns, rows=[], cursor=None, notices=notices)
    if not rows:
        nothing = "There are no more rows." if skipped else _NO_ROW
        return Reply("\n".join([*head, "", nothing]), content)
    header = ["<passage>", _table_row(["page_id", *columns]), "|---" * (len(columns) + 1) + "|"]
    page = fit_page(
        "\n".join([*head, *header]),
        [line(_table_row([row["page_id"], *row["values"]])) for row in rows],
        "</passage>\n\nRead one: read_docs(page=page_id).",
        cursor,
        request.token_budget,
        separator="\n",
    )
    count = len(page.blocks)
    text = page.text.replace("---|\n\n|", "---|\n|", 1)
    text = text.replace(head[0], f"# {plural(count, 'row')}", 1)
    content.cursor = page.cursor
    content.rows = [PageRow.model_validate(row) for row in rows[:count]]
    return Reply(text, content)


def _skipped(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isdecimal() or int(cursor) > _MOST_ROWS:
        raise InvalidCursor(f"{cursor[:100]!r} is not a cursor of this query.")
    return int(cursor)


def _table_row(values: list[Any]) -> str:
    return "| " + " | ".join(_cell(value) for value in values) + " |"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return quotable(" ".join(text.split()).replace("|", "\\|"))
