"""What has to do with a page."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from pgrag.mcp.documentation import Documentation
from pgrag.mcp.replies import on_one_line, plural
from pgrag.mcp.tool import Arguments, PageId, Reply, Tool


class GetRelated(Arguments):
    """A page, and how many others."""

    page_id: Annotated[PageId, Field(description="page_id of a hit.")]
    limit: Annotated[int, Field(ge=1, le=50, description="At most so many pages.")] = 10


class RelatedPage(BaseModel):
    """Another page."""

    page_id: int = Field(description="For get_page.")
    title: str
    page: str = Field(description="Its path in the source.")
    url: str
    score: float
    reason: str = Field(description="What connects the two.")


class RelatedPages(BaseModel):
    """Other pages, the most related first."""

    page_id: int
    related: list[RelatedPage]


def _get_related(documentation: Documentation, given: GetRelated) -> Reply:
    rows = documentation.call("related_pages", page_id=given.page_id, match_count=given.limit)
    related = [
        RelatedPage(
            page_id=row["page_id"],
            title=row["title"],
            page=row["key"],
            url=row["url"],
            score=row["score"],
            reason=row["reason"],
        )
        for row in rows
    ]
    lines = [
        f"- **{on_one_line(item.title)}** (page_id={item.page_id}, {item.score:.2f}):"
        f" {item.reason}. {on_one_line(item.url)}"
        for item in related
    ] or ["No other page is linked with it, or reads alike."]
    head = f"# {plural(len(related), 'page')} related to page {given.page_id}"
    text = "\n".join([head, "", *lines, "", "Read one with get_page(page_id)."])
    return Reply(text, RelatedPages(page_id=given.page_id, related=related))


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="get_related",
        title="Related pages",
        description="List the pages that have most to do with a page, by links, by common"
        " neighbours and by meaning, and say why. Use it to find what else must be read:"
        " prerequisites, alternatives, the reference behind a guide.",
        arguments=GetRelated,
        output=RelatedPages,
        run=_get_related,
    ),
)
