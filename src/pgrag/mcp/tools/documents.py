"""Reading on from a passage: its neighbours, its section, its page, all in paragraphs."""

from typing import Literal

from pydantic import BaseModel, Field

from pgrag.ground.calls import Row
from pgrag.mcp import fields
from pgrag.mcp.corpus import Documentation, named
from pgrag.mcp.replies import Block, address, breadcrumbs, count_tokens, fit, on_one_line
from pgrag.mcp.tool import Arguments, Reply, tool

_NEIGHBOURS = 2
"""Paragraphs before and after."""
_ALL = 1_000_000
_INCOMPLETE = "Not everything requested fits."


class Paragraph(BaseModel):
    """A piece of a page."""

    id: int = Field(validation_alias="document_id", description="For read_document.")
    breadcrumbs: str
    content: str = Field(description="Quoted from the documentation.")
    is_cut: bool = Field(description="Whether its end was cut off for the budget.")


class ReadDocument(Arguments):
    """A passage by its id."""

    id: fields.Id = Field(description="id of a passage, or its key: guide.md#c3.")
    expand: Literal["none", "neighbours", "section", "page"] = Field(
        default="none",
        description="How much around it: none, neighbours (two paragraphs before and after),"
        " section (with its subsections), or page.",
    )
    token_budget: fields.TokenBudget = fields.DEFAULT_BUDGET


class DocumentText(BaseModel):
    """A passage and its requested surroundings, in reading order."""

    id: int
    page_id: int
    library: str
    version: fields.VersionLabel
    title: str
    url: str
    paragraphs: list[Paragraph]
    is_complete: bool = Field(description="Whether everything requested is here.")


@tool("read_document", "Read around a passage", DocumentText)
def read_document(documentation: Documentation, request: ReadDocument) -> Reply:
    """Read a passage that a search found, with its neighbours, its section or its page around it.
    Use it when a passage is right but not enough.
    """
    [row] = documentation.call("document", document_id=request.id)
    rows = _around(documentation, row, request.expand)
    head = "\n".join(
        [
            f"# {breadcrumbs(row)}",
            f"id={row['document_id']} page_id={row['page_id']}"
            f" {named(row['library'], row['version'])}",
            *([address(row)] if row["url"] else []),
            f'<passage id="{row["document_id"]}">',
        ]
    )
    foot = f"</passage>\n\nIts page: get_page(page_id={row['page_id']})."
    room = request.token_budget - count_tokens(head + foot + _INCOMPLETE)
    chosen = _window(rows, _index(rows, row), room)

    def foot_below(count: int) -> str:
        return foot if count == len(rows) else f"{foot} {_INCOMPLETE}"

    fitted = fit(head, below_headings(chosen, row["path"]), foot_below, request.token_budget)
    paragraphs = as_given(chosen, fitted.blocks)
    is_complete = len(paragraphs) == len(rows) and not any(item.is_cut for item in paragraphs)
    content = {
        "id": row["document_id"],
        "url": address(row),
        "paragraphs": paragraphs,
        "is_complete": is_complete,
    }
    return Reply(fitted.text, DocumentText.model_validate(row | content))


def _around(documentation: Documentation, row: Row, expand: str) -> list[Row]:
    """The paragraphs around a passage, including itself, in reading order."""
    if expand == "none":
        return [row]
    rows = paragraphs_of(documentation, row["document_id"])
    if expand == "neighbours":
        index = _index(rows, row)
        rows = rows[max(index - _NEIGHBOURS, 0) : index + _NEIGHBOURS + 1]
    elif expand == "section":
        rows = [other for other in rows if _is_within(other, row)]
    return rows or [row]


def _is_within(paragraph: Row, row: Row) -> bool:
    """Whether a paragraph belongs to a section; a short section may lie inside a paragraph."""
    if paragraph["path"][: len(row["path"])] == row["path"]:
        return True
    begins_before = paragraph["line_start"] <= row["line_end"]
    return bool(row["level"] < 2 and begins_before and paragraph["line_end"] >= row["line_start"])


def _index(rows: list[Row], row: Row) -> int:
    """The index of a passage among the paragraphs; of a section, that of its first paragraph."""
    order = row["sort_order"]
    following = (index for index, other in enumerate(rows) if other["sort_order"] >= order)
    return next(following, len(rows) - 1)


def _window(rows: list[Row], index: int, room: int) -> list[Row]:
    """The rows around an index that fit the room, growing alternately to both sides."""
    sizes = [count_tokens(row["content"]) + count_tokens(breadcrumbs(row)) + 2 for row in rows]
    first = last = index
    left = room - sizes[index]
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


def paragraphs_of(documentation: Documentation, document_id: int) -> list[Row]:
    """The paragraphs of a passage's page, in reading order."""
    rows = documentation.call(
        "expand_documents", document_ids=[document_id], scores=[1.0], max_chunks_per_document=_ALL
    )
    whole = [row for row in rows if row["level"] == 2]
    return sorted(whole or rows, key=lambda row: row["sort_order"])


def below_headings(rows: list[Row], shown_path: list[str]) -> list[Block]:
    """Paragraphs, each below its headings that are not yet shown; `shown_path` is shown already."""
    blocks = []
    above = shown_path
    for row in rows:
        path = row["path"]
        common = next(
            (index for index, name in enumerate(path) if above[index : index + 1] != [name]),
            len(path),
        )
        headings = [
            f"{'#' * min(depth + 1, 6)} {on_one_line(name)}"
            for depth, name in enumerate(path[common:], start=max(common - len(shown_path) + 1, 1))
        ]
        above = path
        blocks.append(
            Block(row["document_id"], "\n\n".join(headings), row["content"], is_quoted=False)
        )
    return blocks


def as_given(rows: list[Row], blocks: tuple[Block, ...]) -> list[Paragraph]:
    """The rows that fit, as their blocks show them."""
    shown = ({"content": block.quotation, "is_cut": block.is_cut} for block in blocks)
    return [
        Paragraph.model_validate(row | {"breadcrumbs": breadcrumbs(row)} | part)
        for row, part in zip(rows, shown, strict=False)
    ]
