"""Reading whole pages and their outlines, and finding related pages."""

from typing import Self

from pydantic import BaseModel, Field, model_validator

from pgrag.ground.calls import Row
from pgrag.ground.errors import InvalidCursor, InvalidInput, UnknownPage
from pgrag.mcp import fields, replies
from pgrag.mcp.corpus import Documentation, Resolved, named
from pgrag.mcp.tool import Arguments, Paged, Reply, tool
from pgrag.mcp.tools.documents import Paragraph, as_given, below_headings, paragraphs_of


class NamedPage(Arguments):
    """A page, by its id or by what it is called."""

    page_id: fields.Id | None = Field(
        default=None, description="Of a hit; or give library and page."
    )
    library: str | None = fields.optional_text(200, "Name of the library of page.")
    page: str | None = fields.optional_text(2000, "Its source path, name, title, alias or url.")
    version: fields.VersionWish = None

    @model_validator(mode="after")
    def _one_page(self) -> Self:
        if (self.page_id is None) == (self.page is None):
            raise ValueError("give page_id, or library and page")
        return self


class GetPage(NamedPage, Paged):
    """A page, and how much of it."""


class PageText(BaseModel):
    """A page, or a part of it, in reading order."""

    page_id: int
    library: str
    version: fields.VersionLabel = Field(description="`-` for documentation without versions.")
    version_reason: str | None = Field(description="Why that one; null if asked by page_id.")
    title: str
    page: str = Field(validation_alias="key", description="Its path in the source.")
    url: str
    paragraphs: list[Paragraph]
    cursor: str | None = Field(description="For what follows; null at the end of the page.")


class Heading(BaseModel):
    """A section of a page."""

    id: int = Field(validation_alias="document_id", description="For read_document.")
    heading: str
    depth: int = Field(description="0 is the page itself.")
    url: str
    paragraphs: int = Field(description="Directly below it.")


class PageOutline(BaseModel):
    """The headings of a page in reading order."""

    page_id: int
    library: str
    version: fields.VersionLabel
    version_reason: str | None
    title: str
    headings: list[Heading]
    cursor: str | None = Field(description="For the next headings; null after the last one.")


class GetRelated(NamedPage):
    """A page, and a limit of related pages."""

    top_k: int = Field(default=10, ge=1, le=50, description="The maximum number of pages.")


class RelatedPage(BaseModel):
    """Another page."""

    page_id: int = Field(description="For get_page.")
    title: str
    page: str = Field(validation_alias="key", description="Its path in the source.")
    url: str
    score: float
    reason: str = Field(description="What connects the two.")


class RelatedPages(BaseModel):
    """Other pages, the most related first."""

    page_id: int
    related: list[RelatedPage]


@tool("get_page", "Read a page", PageText)
def get_page(documentation: Documentation, request: GetPage) -> Reply:
    """Read a whole page of the documentation, from its beginning, in parts where it is long.
    Choose it by page_id of a hit, or by library and page (path or url).
    """
    page, reason = _page(documentation, request)
    root = documentation.call("outline", page_id=page["page_id"])[0]
    rows = _after(paragraphs_of(documentation, root["document_id"]), request.cursor)
    foot = f"Its headings: get_outline(page_id={page['page_id']})."
    blocks = below_headings(rows, root["path"])
    part = _part(page, reason, rows, blocks, foot=foot, budget=request.token_budget)
    paragraphs = as_given(rows, part.blocks)
    content = {"version_reason": reason, "paragraphs": paragraphs, "cursor": part.cursor}
    return Reply(part.text, PageText.model_validate(page | content))


@tool("get_outline", "Outline of a page", PageOutline)
def get_outline(documentation: Documentation, request: GetPage) -> Reply:
    """List the headings of a page with ids of its sections. Use it to find the right section of a
    long page before reading it.
    """
    page, reason = _page(documentation, request)
    rows = _after(documentation.call("outline", page_id=page["page_id"]), request.cursor)
    headings = [
        Heading.model_validate(row | {"url": replies.address(page | {"anchor": row["anchor"]})})
        for row in rows
    ]
    blocks = [
        replies.line(
            f"{'  ' * item.depth}- {replies.on_one_line(item.heading)} (id={item.id})", id=item.id
        )
        for item in headings
    ]
    foot = (
        'Read a section: read_document(id, expand="section").'
        f" All: get_page(page_id={page['page_id']})."
    )
    part = _part(page, reason, rows, blocks, foot=foot, budget=request.token_budget, separator="\n")
    headings = headings[: len(part.blocks)]
    content = {"version_reason": reason, "headings": headings, "cursor": part.cursor}
    return Reply(part.text, PageOutline.model_validate(page | content))


@tool("get_related", "Related pages", RelatedPages)
def get_related(documentation: Documentation, request: GetRelated) -> Reply:
    """List the pages most related to a page, by links, common neighbours and meaning, with
    reasons. Use it to find what else to read: prerequisites, alternatives, the reference behind a
    guide.
    """
    page, _ = _page(documentation, request)
    rows = documentation.call("related_pages", page_id=page["page_id"], top_k=request.top_k)
    content = RelatedPages.model_validate({"page_id": page["page_id"], "related": rows})
    lines = [
        f"- **{replies.on_one_line(other.title)}** (page_id={other.page_id}, {other.score:.2f}):"
        f" {replies.on_one_line(other.reason)}. {replies.on_one_line(other.url)}"
        for other in content.related
    ] or ["No other page is linked with it or similar to it."]
    head = f"# {replies.plural(len(rows), 'page')} related to {replies.on_one_line(page['title'])}"
    return Reply("\n".join([head, "", *lines, "", "Read one with get_page(page_id)."]), content)


def _part(
    page: Row,
    reason: str | None,
    rows: list[Row],
    blocks: list[replies.Block],
    *,
    foot: str,
    budget: int,
    separator: str = "\n\n",
) -> replies.Fitted:
    """Fit a page, or the rest of it, below its title; a cursor is the order of a row."""
    source = named(page["library"], page["version"]) + (f" ({reason})" if reason else "")
    head = [
        f"# {replies.breadcrumbs(page)}",
        f"page_id={page['page_id']} {source} {replies.on_one_line(page['key'])}",
        *([replies.on_one_line(page["url"])] if page["url"] else []),
        f'<passage page_id="{page["page_id"]}">',
    ]
    return replies.fit_page(
        "\n".join(head),
        blocks,
        f"</passage>\n\n{foot}",
        lambda count: None if count == len(rows) else str(rows[count - 1]["sort_order"]),
        budget,
        separator=separator,
        before_more=" ",
    )


def _page(documentation: Documentation, request: NamedPage) -> tuple[Row, str | None]:
    """The chosen page, and the reason for its version if the version was resolved here."""
    if request.library is not None and request.page is not None:
        read = documentation.resolve(request.library, request.version)
        [row] = documentation.call("page", page_id=_page_id(documentation, read, request.page))
        return row["page"], read.reason
    [row] = documentation.call("page", page_id=request.page_id or request.page)
    _require_same(documentation, request, row["page"])
    return row["page"], None


def _require_same(documentation: Documentation, request: NamedPage, page: Row) -> None:
    """Refuse a page_id combined with a different library or version."""
    if request.library is None and request.version is None:
        return
    read = documentation.resolve(request.library or page["library"], request.version)
    is_asked = request.version is None or read.label == page["version"]
    if read.library != page["library"] or not is_asked:
        where = named(page["library"], page["version"])
        raise InvalidInput(
            f"Page {page['page_id']} is one of {where}, not of"
            f" {named(read.library, read.label if request.version is not None else '')}.",
            hint=f"Leave out page_id, and give library and version with page={page['key']!r}.",
        )


def _page_id(documentation: Documentation, read: Resolved, page: str) -> int:
    try:
        [row] = documentation.call("find_page", library=read.library, page=page, version=read.label)
    except UnknownPage:
        whole, section, _ = page.partition("#")
        if not section or not whole:
            raise
        return _page_id(documentation, read, whole)
    return int(row["page_id"])


def _after(rows: list[Row], cursor: str | None) -> list[Row]:
    """The rows after a cursor, which is the order of the last row of the previous reply."""
    if cursor is None:
        return rows
    if not cursor.isdecimal() or len(cursor) > 9:
        raise InvalidCursor(f"{cursor!r} is not a cursor of this page.")
    return [row for row in rows if row["sort_order"] > int(cursor)]
