"""What changed between two versions of a library."""

from typing import Any

from pydantic import BaseModel, Field

from pgrag.ground.errors import InvalidInput
from pgrag.mcp import fields
from pgrag.mcp.corpus import Documentation, shown
from pgrag.mcp.replies import Block, fit_page, line, on_one_line, plural
from pgrag.mcp.tool import Paged, Reply, tool
from pgrag.search.changes import compare_versions as compared


class CompareVersions(Paged):
    """Two versions of a library."""

    library: fields.LibraryName
    from_version: str = Field(
        max_length=200, description="The old version: a label or a range.", examples=["4"]
    )
    to_version: fields.VersionWish = None
    page: str | None = fields.optional_text(
        4000, "Only this page, by its key in a reply for all pages; adds a diff."
    )


class SectionChange(BaseModel):
    """A section that differs."""

    change: str = Field(description="added, removed, moved or changed.")
    section: str = Field(description="Its headings.")
    id: int | None = Field(validation_alias="document_id", description="Null: removed.")


class PageChange(BaseModel):
    """A page that differs."""

    change: str = Field(description="added, removed, moved or changed.")
    key: str
    old_key: str | None
    page_id: int | None = Field(description="For get_page; null: removed.")
    sections: list[SectionChange]


class Changes(BaseModel):
    """What changed, by page."""

    library: str
    from_version: fields.VersionLabel
    to_version: fields.VersionLabel
    pages: list[PageChange]
    cursor: str | None = Field(description="For the next pages; null at the end.")


@tool("compare_versions", "Compare two versions", Changes, is_costly=True)
def compare_versions(documentation: Documentation, request: CompareVersions) -> Reply:
    """List the pages and sections that were added, removed, moved or changed between two versions
    of a library; with page, show the diff of that page. To find changes about a topic, use
    search_docs with changed_since instead.
    """
    changes = compared(
        documentation.app.database, request.library, request.from_version, request.to_version,
        page=request.page, diff=request.page is not None,
    )  # fmt: skip
    old, new = changes["from_version"], changes["to_version"]
    pages = _after(changes["pages"], request.cursor)
    head = (
        f"# {changes['library']}: what changed\n"
        f"From {_version(old)} to {_version(new)}: {plural(len(changes['pages']), 'page')}"
    )
    nothing = "There are no more pages." if request.cursor else "Nothing changed."
    fitted = fit_page(
        head,
        [_block(page) for page in pages] or [line(nothing)],
        "Read a page: get_page(page_id). See its diff: page=KEY.",
        lambda count: None if count >= len(pages) else _id(pages[count - 1]),
        request.token_budget,
        separator="\n",
    )
    content = Changes(
        library=changes["library"],
        from_version=old["version"],
        to_version=new["version"],
        pages=[_page(page) for page in pages[: len(fitted.blocks)]],
        cursor=fitted.cursor,
    )
    return Reply(fitted.text, content)


def _after(pages: list[dict[str, Any]], cursor: str | None) -> list[dict[str, Any]]:
    if cursor is None:
        return pages
    ids = [_id(page) for page in pages]
    if cursor not in ids:
        raise InvalidInput(f"No reply to this comparison had the cursor {cursor!r}.")
    return pages[ids.index(cursor) + 1 :]


def _id(page: dict[str, Any]) -> str:
    """Not the key: a page may have moved to the key of one that was removed."""
    return str(page["page_id"] or -page["old_page_id"])


def _version(read: dict[str, Any]) -> str:
    reason = "" if read["reason"] == "exact" else f" ({read['reason']})"
    return f"{shown(read['version'])}{reason}"


def _page(page: dict[str, Any]) -> PageChange:
    sections = [each | {"section": _headings(each["section"])} for each in page["sections"]]
    return PageChange.model_validate(page | {"sections": sections})


def _block(page: dict[str, Any]) -> Block:
    moved = f" (from {on_one_line(page['old_key'])})" if page["change"] == "moved" else ""
    page_id = "" if page["page_id"] is None else f" page_id={page['page_id']}"
    lines = [
        f"- {page['change']}: {on_one_line(page['key'])}{moved}{page_id}",
        *(
            f"  - {each['change']}: {_headings(each['section'])}"
            + ("" if each["document_id"] is None else f" id={each['document_id']}")
            for each in page["sections"]
        ),
    ]
    if page["diff"] is None:
        return line("\n".join(lines))
    return Block(0, "\n".join(lines), page["diff"])


def _headings(section: list[str]) -> str:
    return on_one_line(" › ".join(section) or "(text before the first heading)")
