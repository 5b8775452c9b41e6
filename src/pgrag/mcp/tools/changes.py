"""What changed between two versions of a library, and in one section through all of them."""

from typing import Any, Self

from pydantic import Field, model_validator

from pgrag.ground.calls import Row
from pgrag.ground.errors import InvalidCursor, UnknownPage
from pgrag.mcp import fields
from pgrag.mcp.corpus import Documentation, shown
from pgrag.mcp.replies import Block, fit_page, line, on_one_line, plural
from pgrag.mcp.tool import Paged, Reply, tool
from pgrag.search.changes import compare_versions as compared
from pgrag.search.changes import section_history


class CompareVersions(Paged):
    """Two versions of a library, or a section."""

    library: fields.AnyLibrary = None
    changed_since: fields.VersionWish = Field(default=None, description="The old version.")
    version: fields.VersionWish = None
    page: str | None = fields.optional_text(4000, "A path: only this page, with its diff.")
    id: fields.Id | None = Field(
        default=None, description="Instead: history of a passage's section."
    )

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        two = (self.library, self.changed_since)
        if self.id is None and None in two:
            raise ValueError("give library and changed_since, or id")
        if self.id is not None and (*two, self.version, self.page) != (None,) * 4:
            raise ValueError("id has its library and all versions: give nothing else")
        return self


@tool("compare_versions", "Compare versions", is_default=True, is_costly=True)
def compare_versions(documentation: Documentation, request: CompareVersions) -> Reply:
    """What changed between versions of a library (upgrade, migration, breaking changes): pages and
    sections added, removed, moved, changed; diffs. About a topic: search_docs with changed_since.
    """
    if request.id is not None:
        return _history(documentation, request)
    changes = compared(
        documentation.app.database, request.library or "", request.changed_since or "",
        request.version, page=request.page, diff=request.page is not None,
    )  # fmt: skip
    old, new = changes["from_version"], changes["to_version"]
    if request.page is not None and not changes["pages"]:
        _require_page(documentation, changes["library"], request.page, (new, old))
    pages = _after(changes["pages"], request.cursor)
    head = (
        f"# {changes['library']}: what changed\n"
        f"From {_version(old)} to {_version(new)}: {plural(len(changes['pages']), 'page')}"
    )
    nothing = "There are no more pages." if request.cursor else "Nothing changed."
    fitted = fit_page(
        head,
        [_block(page) for page in pages] or [line(nothing)],
        "Read: read_docs(page=ID), read_docs(ids=[…]). A diff: page=PATH." if pages else "",
        lambda count: None if count >= len(pages) else _id(pages[count - 1]),
        request.token_budget,
        separator="\n",
    )
    return Reply(fitted.text)


def _require_page(
    documentation: Documentation, library: str, page: str, versions: tuple[Row, Row]
) -> None:
    """Raise `UnknownPage`, with the near names in the newer version, if neither has the page."""
    failures = []
    for read in versions:
        try:
            documentation.call("find_page", library=library, page=page, version=read["version"])
        except UnknownPage as error:
            failures.append(error)
    if len(failures) == len(versions):
        raise failures[0]


def _history(documentation: Documentation, request: CompareVersions) -> Reply:
    """The versions of a section, the first one first."""
    rows = section_history(documentation.app.database, str(request.id), diff=True)
    rows = rows[_skipped(request.cursor) :]
    blocks = [
        Block(row["document_id"] or 0, f"- {shown(row['version'])}: {row['change']}", row["diff"])
        if row["diff"]
        else line(f"- {shown(row['version'])}: {row['change'] or 'the same'}")
        for row in rows
    ]
    skipped = _skipped(request.cursor)
    fitted = fit_page(
        "# History of the section",
        blocks or [line("There is no more.")],
        "",
        lambda count: None if count >= len(rows) else str(skipped + count),
        request.token_budget,
        separator="\n",
        before_more="",
    )
    return Reply(fitted.text)


def _skipped(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isdecimal() or len(cursor) > 9:
        raise InvalidCursor(f"{cursor[:100]!r} is not a cursor of this history.")
    return int(cursor)


def _after(pages: list[dict[str, Any]], cursor: str | None) -> list[dict[str, Any]]:
    if cursor is None:
        return pages
    ids = [_id(page) for page in pages]
    if cursor not in ids:
        raise InvalidCursor(f"No reply to this comparison had the cursor {cursor!r}.")
    return pages[ids.index(cursor) + 1 :]


def _id(page: dict[str, Any]) -> str:
    """Not the key: a page may have moved to the key of one that was removed."""
    return str(page["page_id"] or -page["old_page_id"])


def _version(read: dict[str, Any]) -> str:
    reason = "" if read["reason"] == "exact" else f" ({read['reason']})"
    return f"{shown(read['version'])}{reason}"


def _block(page: dict[str, Any]) -> Block:
    moved = f" (from {on_one_line(page['old_key'])})" if page["change"] == "moved" else ""
    page_id = "" if page["page_id"] is None else f" page={page['page_id']}"
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
