"""Pages that are related to a page."""

from pydantic import Field

from pgrag.mcp.corpus import Documentation
from pgrag.mcp.replies import on_one_line, plural
from pgrag.mcp.tool import Reply, tool
from pgrag.mcp.tools.reading import NamedPage, page_of


class RelatedPages(NamedPage):
    """A page, and a limit of related pages."""

    top_k: int = Field(default=10, ge=1, le=50, description="The maximum number of pages.")


@tool("related_pages", "Related pages")
def related_pages(documentation: Documentation, request: RelatedPages) -> Reply:
    """List the pages most related to a page, by links, common neighbours and meaning, with
    reasons. Use it to find what else to read: prerequisites, alternatives, the reference behind a
    guide.
    """
    page, _ = page_of(documentation, request)
    rows = documentation.call("related_pages", page_id=page["page_id"], top_k=request.top_k)
    lines = [
        f"- **{on_one_line(row['title'])}** (page={row['page_id']}, {row['score']:.2f}):"
        f" {on_one_line(row['reason'])}. {on_one_line(row['url'] or '')}"
        for row in rows
    ] or ["No other page is linked with it or similar to it."]
    head = f"# {plural(len(rows), 'page')} related to {on_one_line(page['title'])}"
    return Reply("\n".join([head, "", *lines, "", "Read one: read_docs(page=ID)."]))
