"""A page as HTML for a reader: sanitised, its links resolved, a passage and words marked."""

from collections.abc import Iterable
from typing import Any

from pgrag.ground.calls import Row
from pgrag.ground.connections import Database
from pgrag.ground.errors import UnknownDocument
from pgrag.ingest.formats import formats
from pgrag.rendering.html import Sought, assembled, rendered_blocks
from pgrag.rendering.links import Links
from pgrag.rendering.marking import Marking, word_pattern
from pgrag.rendering.window import Window, window

#: What a page tells of itself.
_OF_PAGE = (
    "page_id", "library", "version", "key", "url", "link", "title", "path", "language",
)  # fmt: skip


def rendered_page(
    database: Database,
    page: int | str,
    *,
    document: int | str | None = None,
    query: str | None = None,
    prefix: bool = False,
    line: int | None = None,
) -> dict[str, Any]:
    """Return a `RenderedPage` as a row.

    `document` is a passage of the page to mark, `query` the words to mark, of which the last may
    be a `prefix`; of a long page the part is rendered that begins on `line`, or has the passage.
    Raises `UnknownPage`, `UnknownDocument`.
    """
    [stored] = database.call("page", page_id=page)
    page_id = stored["page_id"]
    passage = None if document is None else _passage(database, document, page_id)
    first_line = stored["head"].count("\n") + 1
    wanted = line or (passage["line_start"] if passage else None)
    part = window(stored["body"], first_line, wanted=wanted, is_start=line is not None)
    words = [] if not query else database.call(
        "matched_words", page_id=page_id, query=query, prefix=prefix,
        line_start=part.first, line_end=part.last,
    )  # fmt: skip
    headings = database.call("outline", page_id=page_id)
    marking = Marking(
        Links(stored["url"], database.call("link_targets", page_id=page_id)),
        word_pattern(each["word"] for each in words),
    )
    is_markdown = formats.named_format(stored["key"]) in {formats.MARKDOWN, None}
    html, marked = assembled(
        rendered_blocks(part, is_markdown=is_markdown),
        marking,
        _anchors(headings),
        Sought.of(passage) if passage else None,
    )
    beside = {each["relation"]: each for each in database.call("adjacent_pages", page_id=page_id)}
    return {
        **{name: stored[name] for name in _OF_PAGE},
        "html": html,
        "first_line": first_line,
        "line_start": part.first,
        "line_end": part.last,
        "next_line": _next_line(part, first_line + stored["body"].count("\n")),
        "passage": passage and {
            **{name: passage[name] for name in ("document_id", "line_start", "line_end")},
            "marked": marked,
        },
        "words": [each["word"] for each in words],
        "previous": beside.get("previous"),
        "next": beside.get("next"),
    }  # fmt: skip


def _passage(database: Database, document: int | str, page_id: int) -> Row:
    [passage] = database.call("document", document_id=document)
    if passage["page_id"] != page_id:
        raise UnknownDocument(
            f"Passage {document} is not on page {page_id}.",
            hint=f"It is on page {passage['page_id']}.",
        )
    return passage


def _next_line(part: Window, last_line: int) -> int | None:
    return part.last + 1 if part.last < last_line else None


def _anchors(headings: Iterable[Row]) -> dict[int, str]:
    """The anchors of headings by their lines, each once."""
    lines: dict[str, int] = {}
    for heading in headings:
        if heading["anchor"] and heading["line_start"]:
            lines.setdefault(heading["anchor"], heading["line_start"])
    return {line: anchor for anchor, line in lines.items()}
