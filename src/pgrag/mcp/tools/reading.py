"""Reading: passages with what stands around them, pages, and their outlines."""

from collections.abc import Callable, Iterator
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from pgrag.ground.calls import Row
from pgrag.ground.errors import InvalidCursor, InvalidInput, UnknownPage
from pgrag.mcp import fields
from pgrag.mcp.corpus import Documentation, named
from pgrag.mcp.paragraphs import around, below_headings, paragraphs_of, window
from pgrag.mcp.replies import (
    Block,
    address,
    breadcrumbs,
    count_tokens,
    fit,
    fit_page,
    line,
    on_one_line,
)
from pgrag.mcp.tool import Arguments, Paged, Reply, tool

_MOST_IDS = 50
_ALL = 1_000_000
_FILLED = 0.8
"""The part of a budget that a page may fill with its paragraphs, beside their headings."""


class NamedPage(Arguments):
    """A page, by its id or by what it is called."""

    page: fields.Id | None = Field(
        default=None, description="Id, path, title or url; #anchor for a section."
    )
    library: fields.AnyLibrary = None
    version: fields.VersionWish = None


class ReadDocs(NamedPage, Paged):
    """Passages or a page, and how much of it."""

    ids: fields.Ids = Field(
        default=None, min_length=1, max_length=_MOST_IDS, description="Of passages."
    )
    expand: Literal["none", "neighbours", "section", "page", "outline"] | None = Field(
        default=None, description="By default the section of ids, the whole page."
    )

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if (self.ids is None) == (self.page is None):
            raise ValueError("give ids, or page")
        if self.ids is not None and self.cursor is not None:
            raise ValueError("cursor goes on with a page: give the page of the last reply")
        if self.page is not None and self.expand in {"none", "neighbours"}:
            raise ValueError(
                f"expand={self.expand!r} is for ids; a page has section, page, outline"
            )
        return self


@tool("read_docs", "Read the documentation", is_default=True)
def read_docs(documentation: Documentation, request: ReadDocs) -> Reply:
    """Read documentation pages: sections around passages that search_docs found, a whole page by
    path, title or url, or the outline of its headings.
    """
    if request.ids is not None:
        return Reply("\n\n".join(_passages(documentation, request, request.ids)))
    page, reason = page_of(documentation, request)
    rows = documentation.call("outline", page_id=page["page_id"])
    if request.expand == "outline":
        return Reply(_outline(page, reason, rows, request))
    _, _, anchor = (request.page or "").partition("#")
    section = next((row["document_id"] for row in rows if anchor and row["anchor"] == anchor), None)
    if request.expand == "section" and section is None:
        raise InvalidInput(
            'expand="section" needs ids, or a page with the #anchor of one of its headings.'
        )
    if section is not None and request.cursor is None and request.expand != "page":
        return Reply("\n\n".join(_passages(documentation, request, [section])))
    return Reply(_page_text(documentation, page, reason, request, rows[0]))


def _passages(documentation: Documentation, request: ReadDocs, ids: list[Any]) -> Iterator[str]:
    """The passages with what is around each, within the budget together, nothing twice."""
    rest = request.token_budget
    given: set[int] = set()  # passages, or pages
    for nth, one in enumerate(ids):
        share = rest // (len(ids) - nth)
        if share < fields.SMALLEST_BUDGET:
            share = min(rest, fields.SMALLEST_BUDGET)
        if share < fields.SMALLEST_BUDGET and nth > 0:
            yield f"Not read, for lack of budget: the {len(ids) - nth} ids from {one} on."
            return
        [row] = documentation.call("document", document_id=str(one))
        if row["page_id"] in given:
            continue
        paragraphs = _whole_page(documentation, request, row, share)
        if request.expand == "outline" or paragraphs is None:
            given.add(row["page_id"])
            whole = {"ids": None, "page": str(row["page_id"]), "token_budget": share}
            text = read_docs.run(documentation, request.model_copy(update=whole)).text
        else:
            rows_around = paragraphs or around(documentation, row, request.expand)
            rows = [other for other in rows_around if other["document_id"] not in given]
            if not rows:
                continue
            text, shown = _surrounded(row, rows, share)
            given.update(shown)
        rest -= count_tokens(text) + 1
        yield text


def _whole_page(
    documentation: Documentation, request: ReadDocs, row: Row, budget: int
) -> list[Row] | None:
    """The paragraphs of the page of a passage if it is asked for and too long for the budget, to be
    read around the passage; none if no page is asked for, None if it can be read whole.
    """
    if request.expand != "page":
        return []
    rows = paragraphs_of(documentation, row["document_id"])
    length = sum(count_tokens(other["content"]) for other in rows)
    return None if length < budget * _FILLED else rows


def _surrounded(row: Row, rows: list[Row], budget: int) -> tuple[str, list[int]]:
    """A passage with as much around it as the budget allows, and the ids of what that is."""
    head = "\n".join(
        [
            f"# {breadcrumbs(row)}",
            f"{named(row['library'], row['version'])} page={row['page_id']}",
            *([address(row)] if row["url"] else []),
            f'<passage id="{row["document_id"]}">',
        ]
    )
    page = f"read_docs(page={row['page_id']}"
    longest = f'</passage>\n\nMore: {page}, cursor="{_ALL}").'
    chosen = window(rows, row, budget - count_tokens(head + longest))

    def foot(count: int) -> str:
        if chosen[count - 1] is rows[-1]:
            return f"</passage>\n\nIts page: {page})."
        return f'</passage>\n\nMore: {page}, cursor="{chosen[count - 1]["sort_order"]}").'

    fitted = fit(head, below_headings(chosen, row["path"]), foot, budget)
    return fitted.text, [block.id for block in fitted.blocks]


def _page_text(
    documentation: Documentation, page: Row, reason: str | None, request: ReadDocs, root: Row
) -> str:
    rows = _after(paragraphs_of(documentation, root["document_id"]), request.cursor)
    blocks = below_headings(rows, root["path"])
    foot = f'Its headings: read_docs(page={page["page_id"]}, expand="outline").'
    return _part(page, reason, rows, blocks, foot, budget=request.token_budget)


def _outline(page: Row, reason: str | None, rows: list[Row], request: ReadDocs) -> str:
    rows = _after(rows, request.cursor)
    blocks = [
        line(
            f"{'  ' * row['depth']}- {on_one_line(row['heading'])} (id={row['document_id']})",
            id=row["document_id"],
        )
        for row in rows
    ]
    foot = "Read sections: read_docs(ids=[…])."
    return _part(page, reason, rows, blocks, foot, budget=request.token_budget, separator="\n")


def _part(
    page: Row,
    reason: str | None,
    rows: list[Row],
    blocks: list[Block],
    foot: str,
    *,
    budget: int,
    separator: str = "\n\n",
) -> str:
    """Fit a page, or the rest of it, below its title; a cursor is the order of a row."""
    source = named(page["library"], page["version"]) + (f" ({reason})" if reason else "")
    head = [
        f"# {breadcrumbs(page)}",
        f"page={page['page_id']} {source} {on_one_line(page['key'])}",
        *([on_one_line(page["url"])] if page["url"] else []),
        f'<passage page="{page["page_id"]}">',
    ]
    return fit_page(
        "\n".join(head),
        blocks,
        f"</passage>\n\n{foot}",
        lambda count: None if count == len(rows) else str(rows[count - 1]["sort_order"]),
        budget,
        separator=separator,
        before_more=" ",
    ).text


def page_of(documentation: Documentation, request: NamedPage) -> tuple[Row, str | None]:
    """The chosen page, and the reason for its version if the version was resolved here."""
    wish = request.page or ""
    if request.library is not None and not wish.isdecimal():
        read = documentation.resolve(request.library, request.version)
        [found] = _without_anchor(
            wish,
            lambda page: documentation.call(
                "find_page", library=read.library, page=page, version=read.label
            ),
        )
        [row] = documentation.call("page", page_id=found["page_id"])
        return row, read.reason
    [row] = _without_anchor(wish, lambda page: documentation.call("page", page_id=page))
    _require_same(documentation, request, row)
    return row, None


def _require_same(documentation: Documentation, request: NamedPage, page: Row) -> None:
    """Refuse the id of a page with a different library or version."""
    if request.library is None and request.version is None:
        return
    read = documentation.resolve(request.library or page["library"], request.version)
    is_asked = request.version is None or read.label == page["version"]
    if read.library != page["library"] or not is_asked:
        where = named(page["library"], page["version"])
        raise InvalidInput(
            f"Page {page['page_id']} is one of {where}, not of"
            f" {named(read.library, read.label if request.version is not None else '')}.",
            hint=f"Give library and version with page={page['key']!r}.",
        )


def _without_anchor(page: str, find: Callable[[str], list[Row]]) -> list[Row]:
    """What a page is, also if only its name without #anchor is known."""
    try:
        return find(page)
    except UnknownPage:
        whole, section, _ = page.partition("#")
        if not section or not whole:
            raise
        return find(whole)


def _after(rows: list[Row], cursor: str | None) -> list[Row]:
    """The rows after a cursor, which is the order of the last row of the previous reply."""
    if cursor is None:
        return rows
    if not cursor.isdecimal() or len(cursor) > 9:
        raise InvalidCursor(f"{cursor!r} is not a cursor of this page.")
    return [row for row in rows if row["sort_order"] > int(cursor)]
