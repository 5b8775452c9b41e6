"""Reading on from a passage: its neighbours, its section, its page."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from pgrag.db import Row
from pgrag.mcp.documentation import Documentation, named, shown
from pgrag.mcp.paragraphs import Paragraph, as_given, below_headings, paragraphs_of
from pgrag.mcp.replies import address, breadcrumbs, count_tokens, fit
from pgrag.mcp.tool import DEFAULT_BUDGET, Arguments, DocumentId, Reply, TokenBudget, Tool

_NEIGHBOURS = 2
"""So many paragraphs before and after."""
_INCOMPLETE = "More was asked for than fits."


class ReadDocument(Arguments):
    """A document by its id."""

    id: Annotated[DocumentId, Field(description="id of a passage.")]
    expand: Annotated[
        Literal["none", "neighbours", "section", "page"],
        Field(
            description="How much around it: none, neighbours (two paragraphs before and after),"
            " section (with its subsections), or page."
        ),
    ] = "none"
    token_budget: TokenBudget = DEFAULT_BUDGET


class DocumentText(BaseModel):
    """A document and what was asked for around it, in reading order."""

    id: int
    page_id: int
    library: str
    version: str
    title: str
    url: str
    paragraphs: list[Paragraph]
    is_complete: bool = Field(description="Whether all that was asked for is here.")


def _read_document(documentation: Documentation, given: ReadDocument) -> Reply:
    [row] = documentation.call("document", document_id=given.id)
    rows = _around(documentation, row, given.expand)
    head = "\n".join(
        [
            f"# {breadcrumbs(row)}",
            f"id={given.id} page_id={row['page_id']} {named(row['library'], row['version'])}",
            *([address(row)] if row["url"] else []),
            f'<passage id="{given.id}">',
        ]
    )
    foot = f"</passage>\n\nIts page: get_page(page_id={row['page_id']})."
    room = given.token_budget - count_tokens(head + foot + _INCOMPLETE)
    chosen = _window(rows, _place(rows, row), room)

    def foot_below(count: int) -> str:
        return foot if count == len(rows) else f"{foot} {_INCOMPLETE}"

    blocks = below_headings(chosen, row["path"])
    fitted = fit(head, blocks, foot_below, given.token_budget)
    paragraphs = as_given(chosen, fitted.blocks)
    content = DocumentText(
        id=given.id,
        page_id=row["page_id"],
        library=row["library"],
        version=shown(row["version"]),
        title=row["title"],
        url=address(row),
        paragraphs=paragraphs,
        is_complete=len(paragraphs) == len(rows) and not any(item.is_cut for item in paragraphs),
    )
    return Reply(fitted.text, content)


def _around(documentation: Documentation, row: Row, expand: str) -> list[Row]:
    """The paragraphs around a document, it included, in reading order."""
    if expand == "none":
        return [row]
    rows = paragraphs_of(documentation, row["document_id"])
    if expand == "neighbours":
        place = _place(rows, row)
        rows = rows[max(place - _NEIGHBOURS, 0) : place + _NEIGHBOURS + 1]
    elif expand == "section":
        rows = [other for other in rows if _is_within(other, row)]
    return rows or [row]


def _is_within(paragraph: Row, row: Row) -> bool:
    """Whether a paragraph belongs to a section; a short one may be part of a larger paragraph."""
    if paragraph["path"][: len(row["path"])] == row["path"]:
        return True
    begins_before = paragraph["line_start"] <= row["line_end"]
    return bool(row["level"] < 2 and begins_before and paragraph["line_end"] >= row["line_start"])


def _place(rows: list[Row], row: Row) -> int:
    """Where a document stands among the paragraphs; a section, where its first one does."""
    order = row["sort_order"]
    following = (place for place, other in enumerate(rows) if other["sort_order"] >= order)
    return next(following, len(rows) - 1)


def _window(rows: list[Row], place: int, room: int) -> list[Row]:
    """As many rows around a place as there is room for, growing to both sides in turn."""
    sizes = [
        count_tokens(other["content"]) + count_tokens(breadcrumbs(other)) + 2 for other in rows
    ]
    first = last = place
    left = room - sizes[place]
    is_open = {True: True, False: True}
    forward = True
    while any(is_open.values()):
        other = last + 1 if forward else first - 1
        if is_open[forward] and 0 <= other < len(rows) and sizes[other] <= left:
            left -= sizes[other]
            first, last = min(first, other), max(last, other)
        else:
            is_open[forward] = False
        forward = not forward
    return rows[first : last + 1]


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="read_document",
        title="Read around a passage",
        description="Read a passage that a search found, with its neighbours, its section or its"
        " page around it. Use it when a passage is right but not enough.",
        arguments=ReadDocument,
        output=DocumentText,
        run=_read_document,
    ),
)
