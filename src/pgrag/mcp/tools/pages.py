"""Reading whole pages, and their outlines."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, model_validator

from pgrag.db import Row
from pgrag.errors import InvalidCursor, InvalidInput, UnknownPage
from pgrag.mcp.documentation import Documentation, Resolved, named, shown
from pgrag.mcp.paragraphs import Paragraph, as_given, below_headings, paragraphs_of
from pgrag.mcp.replies import Block, address, breadcrumbs, fit, on_one_line
from pgrag.mcp.tool import (
    DEFAULT_BUDGET,
    Arguments,
    Cursor,
    PageId,
    Reply,
    TokenBudget,
    Tool,
    VersionWish,
)


class PageChoice(Arguments):
    """A page, by its id or by where it is."""

    page_id: Annotated[
        PageId | None, Field(description="page_id of a hit. Or give library and page.")
    ] = None
    library: Annotated[
        str | None, Field(max_length=200, description="Name of a library, with page.")
    ] = None
    page: Annotated[
        str | None,
        Field(max_length=2000, description="Path of the page in the source, or its url."),
    ] = None
    version: VersionWish = None

    @model_validator(mode="after")
    def _one_page(self) -> Self:
        if (self.page_id is None) == (self.page is None):
            raise ValueError("give page_id, or library and page")
        if self.page is not None and self.library is None:
            raise ValueError("page needs library beside it")
        return self


class GetPage(PageChoice):
    """The text of a page."""

    token_budget: TokenBudget = DEFAULT_BUDGET
    cursor: Cursor = None


class GetOutline(GetPage):
    """The headings of a page."""


class PageText(BaseModel):
    """A page, or a part of it, in reading order."""

    page_id: int
    library: str
    version: str = Field(description="`-` for documentation without versions.")
    version_reason: str | None = Field(description="Why that one; null by page_id.")
    title: str
    page: str = Field(description="Its path in the source.")
    url: str
    paragraphs: list[Paragraph]
    cursor: str | None = Field(description="For what follows; null at the end of the page.")


class Heading(BaseModel):
    """A section of a page."""

    id: int = Field(description="For read_document, with expand section.")
    heading: str
    depth: int = Field(description="0 is the page itself.")
    url: str
    paragraphs: int = Field(description="Directly below it.")


class PageOutline(BaseModel):
    """The headings of a page in reading order."""

    page_id: int
    library: str
    version: str
    version_reason: str | None
    title: str
    headings: list[Heading]
    cursor: str | None = Field(description="For the next headings; null after the last one.")


def _get_page(documentation: Documentation, given: GetPage) -> Reply:
    page, reason = _page(documentation, given)
    root = documentation.call("outline", page_id=page["page_id"])[0]
    rows = paragraphs_of(documentation, root["document_id"])
    left = _after(rows, given.cursor)
    blocks = below_headings(left, root["path"])

    def cursor(count: int) -> str | None:
        return None if count == len(left) else str(left[count - 1]["sort_order"])

    def foot(count: int) -> str:
        following = cursor(count)
        more = f' More: the same call with cursor="{following}".' if following else ""
        return f"</passage>\n\nIts headings: get_outline(page_id={page['page_id']}).{more}"

    head = f'{_head(page, reason)}\n<passage page_id="{page["page_id"]}">'
    fitted = fit(head, blocks, foot, given.token_budget)
    content = PageText(
        page_id=page["page_id"],
        library=page["library"],
        version=shown(page["version"]),
        version_reason=reason,
        title=page["title"],
        page=page["key"],
        url=page["url"],
        paragraphs=as_given(left, fitted.blocks),
        cursor=cursor(len(fitted.blocks)) if left else None,
    )
    return Reply(fitted.text, content)


def _get_outline(documentation: Documentation, given: GetOutline) -> Reply:
    page, reason = _page(documentation, given)
    rows = _after(documentation.call("outline", page_id=page["page_id"]), given.cursor)
    headings = [
        Heading(
            id=row["document_id"],
            heading=row["heading"],
            depth=row["depth"],
            url=address({**page, "anchor": row["anchor"]}),
            paragraphs=row["paragraphs"],
        )
        for row in rows
    ]
    blocks = [
        Block(
            item.id,
            "",
            f"{'  ' * item.depth}- {on_one_line(item.heading)} (id={item.id})",
            is_quoted=False,
        )
        for item in headings
    ]

    def cursor(count: int) -> str | None:
        return None if count == len(rows) else str(rows[count - 1]["sort_order"])

    def foot(count: int) -> str:
        following = cursor(count)
        more = f' More: the same call with cursor="{following}".' if following else ""
        return (
            f'</passage>\n\nRead a section: read_document(id, expand="section").'
            f" All: get_page(page_id={page['page_id']}).{more}"
        )

    head = f'{_head(page, reason)}\n<passage page_id="{page["page_id"]}">'
    fitted = fit(head, blocks, foot, given.token_budget, separator="\n")
    count = len(fitted.blocks)
    content = PageOutline(
        page_id=page["page_id"],
        library=page["library"],
        version=shown(page["version"]),
        version_reason=reason,
        title=page["title"],
        headings=headings[:count],
        cursor=cursor(count) if rows else None,
    )
    return Reply(fitted.text, content)


def _page(documentation: Documentation, given: PageChoice) -> tuple[Row, str | None]:
    """The page that was chosen, and why in that version, where the version was chosen here."""
    if given.library is not None and given.page is not None:
        read = documentation.resolve(given.library, given.version)
        page_id = _found(documentation, read, given.page)
        [row] = documentation.call("page", page_id=page_id)
        return row["page"], read.reason
    [row] = documentation.call("page", page_id=given.page_id)
    page: Row = row["page"]
    _require_same(documentation, given, page)
    return page, None


def _require_same(documentation: Documentation, given: PageChoice, page: Row) -> None:
    """Refuse a page by its id where another library or version is asked for beside it."""
    if given.library is None and given.version is None:
        return
    read = documentation.resolve(given.library or page["library"], given.version)
    is_asked = given.version is None or read.label == page["version"]
    if read.library != page["library"] or not is_asked:
        where = named(page["library"], page["version"])
        raise InvalidInput(
            f"Page {page['page_id']} is one of {where}, not of"
            f" {named(read.library, read.label if given.version is not None else '')}.",
            hint=f"Leave out page_id, and give library and version with page={page['key']!r}.",
        )


def _found(documentation: Documentation, read: Resolved, page: str) -> int:
    """The id of a page by path or url; the url may be that of one of its sections."""
    try:
        [row] = documentation.call("find_page", library=read.library, page=page, version=read.label)
    except UnknownPage:
        whole, section, _ = page.partition("#")
        if not section or not whole:
            raise
        return _found(documentation, read, whole)
    return int(row["page_id"])


def _head(page: Row, reason: str | None) -> str:
    source = named(page["library"], page["version"]) + (f" ({reason})" if reason else "")
    facts = f"page_id={page['page_id']} {source} {on_one_line(page['key'])}"
    return "\n".join(
        [f"# {breadcrumbs(page)}", facts, *([on_one_line(page["url"])] if page["url"] else [])]
    )


def _after(rows: list[Row], cursor: str | None) -> list[Row]:
    """The rows behind a cursor, which is the place of the last one that was given."""
    if cursor is None:
        return rows
    if not cursor.isdecimal() or len(cursor) > 9:
        raise InvalidCursor(f"{cursor!r} is no cursor of this page.")
    return [row for row in rows if row["sort_order"] > int(cursor)]


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="get_page",
        title="Read a page",
        description="Read a whole page of the documentation, from its beginning, in parts where it"
        " is long. Choose it by page_id of a hit, or by library and page (path or url).",
        arguments=GetPage,
        output=PageText,
        run=_get_page,
    ),
    Tool(
        name="get_outline",
        title="Outline of a page",
        description="List the headings of a page with ids of its sections. Use it to find the right"
        " section of a long page before reading it.",
        arguments=GetOutline,
        output=PageOutline,
        run=_get_outline,
    ),
)
