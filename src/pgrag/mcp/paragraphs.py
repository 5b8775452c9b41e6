"""The paragraphs of a page as an agent reads them: below their headings, with their ids."""

from __future__ import annotations

from pydantic import BaseModel, Field

from pgrag.db import Row
from pgrag.mcp.documentation import Documentation
from pgrag.mcp.replies import Block, breadcrumbs, on_one_line

_ALL = 1_000_000


class Paragraph(BaseModel):
    """A piece of a page."""

    id: int = Field(description="For read_document.")
    breadcrumbs: str
    content: str = Field(description="Quoted from the documentation.")
    is_cut: bool = Field(description="Whether its end was cut off for the budget.")


def paragraphs_of(documentation: Documentation, document_id: int) -> list[Row]:
    """The paragraphs of the page that a document is of, in reading order."""
    rows = documentation.call(
        "expand_documents",
        document_ids=[document_id],
        scores=[1.0],
        max_chunks_per_document=_ALL,
    )
    whole = [row for row in rows if row["level"] == 2]
    return sorted(whole or rows, key=lambda row: row["sort_order"])


def below_headings(rows: list[Row], shown_path: list[str]) -> list[Block]:
    """Paragraphs below the headings that are new with them; `shown_path` stands above them all."""
    blocks = []
    above = shown_path
    for row in rows:
        path = row["path"]
        common = next(
            (place for place, name in enumerate(path) if above[place : place + 1] != [name]),
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
    """The first of the rows as their blocks show them."""
    return [
        Paragraph(
            id=row["document_id"],
            breadcrumbs=breadcrumbs(row),
            content=block.content,
            is_cut=block.is_cut,
        )
        for row, block in zip(rows, blocks, strict=False)
    ]
