"""A page as HTML for a reader: sanitised, its links resolved, a passage and words marked."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from pgrag.ground.calls import Row
from pgrag.ground.connections import Database
from pgrag.ground.errors import UnknownDocument
from pgrag.ingest.formats import formats
from pgrag.ingest.text.shown import shown
from pgrag.rendering.blocks import Block, blocks
from pgrag.rendering.clean import clean
from pgrag.rendering.links import Links
from pgrag.rendering.marking import PART, Lines, Marking, parts_within, word_pattern
from pgrag.rendering.window import Window, window

#: What a page tells of itself.
_OF_PAGE = (
    "page_id", "library", "version", "key", "url", "link", "title", "path", "language",
)  # fmt: skip
#: A passage or a block with fewer words is not found by its text.
_FEWEST_WORDS = 3
_WORD = re.compile(r"\w+")
_TAG = re.compile(r"<[^<>]*>")


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
    [row] = database.call("page", page_id=page)
    stored = row["page"]
    page_id = stored["page_id"]
    passage = None if document is None else _passage(database, document, page_id)
    first_line = stored["head"].count("\n") + 1
    wanted = line or (passage and passage["line_start"])
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
    made = [*_blocks(part, is_markdown=is_markdown)]
    html, marked = _assembled(made, marking, _anchors(headings), passage)
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


def _blocks(part: Window, *, is_markdown: bool) -> Iterable[Block]:
    """The sanitised blocks of a part, with the lines that they have in the source."""
    above = part.first - part.added - 1
    for block in blocks(shown(part.text, is_markdown=is_markdown), has_wikilinks=is_markdown):
        html = clean(block.html).rstrip()
        if not html or block.first + above > part.last:
            continue
        lines = f' data-lines="{block.first + above}-{block.last + above}"'
        html = _SHIFTED.sub(lambda m: f' data-lines="{int(m[1]) + above}-{int(m[2]) + above}"', html)
        is_single = block.tag and html.startswith(f"<{block.tag}{lines}")
        yield Block(
            html=html if is_single else f"<div{lines}>{html}</div>",
            first=block.first + above,
            last=block.last + above,
            kind=block.kind if is_single else "html",
            tag=block.tag if is_single else "div",
        )


_SHIFTED = re.compile(r' data-lines="(\d+)-(\d+)"')


@dataclass(slots=True)
class _Marked:
    """How a passage was found, and what is marked: whole blocks, and parts of others."""

    by: str
    whole: set[int]
    parts: dict[int, Sequence[Lines]]
    code: dict[int, Lines]


def _assembled(
    made: Sequence[Block], marking: Marking, anchors: dict[int, str], passage: Row | None
) -> tuple[str, str | None]:
    """The HTML of all blocks, and how the passage was found in them."""
    found = _found(made, passage) if passage else _Marked("nothing", set(), {}, {})
    written: list[str] = []
    for number, block in enumerate(made):
        html = marking.marked(block.html, found.parts.get(number, ()), found.code.get(number))
        if block.kind == "heading" and (anchor := anchors.get(block.first)):
            html = html.replace(f"<{block.tag}", f'<{block.tag} id="{escape(anchor)}"', 1)
        if number in found.whole and number - 1 not in found.whole:
            written.append(f"<div{PART}>")
        written.append(html)
        if number in found.whole and number + 1 not in found.whole:
            written.append("</div>")
    html = "\n".join(written)
    if "passage" not in anchors.values():
        html = html.replace("\0", ' id="passage"', 1)
    return html.replace("\0", ""), found.by if passage else None


def _found(made: Sequence[Block], passage: Row) -> _Marked:
    if passage["level"] == 0 or not made:
        return _Marked("page" if made else "nothing", set(), {}, {})
    lines = (passage["line_start"], passage["line_end"])
    if not lines[0]:
        whole = _alike(made, passage["content"])
        return _Marked("text" if whole else "nothing", whole, {}, {})
    found = _Marked("lines", set(), {}, {})
    for number, block in enumerate(made):
        if block.first > lines[1] or block.last < lines[0]:
            continue
        is_whole = lines[0] <= block.first and block.last <= lines[1]
        if not is_whole and block.kind in {"list", "table"}:
            found.parts[number] = parts_within(block.html, lines)
            is_whole = not found.parts[number]
        elif not is_whole and block.kind in {"fence", "code"}:
            first = block.first + (block.kind == "fence")
            code = (max(lines[0] - first + 1, 1), min(lines[1], block.last) - first + 1)
            is_whole = code[0] > code[1]
            if not is_whole:
                found.code[number] = code
        else:
            is_whole = True
        if is_whole:
            found.parts.pop(number, None)
            found.whole.add(number)
    if len(found.whole) == len(made) and not found.parts and not found.code:
        return _Marked("page", set(), {}, {})
    found.by = "lines" if found.whole or found.parts or found.code else "nothing"
    return found


def _alike(made: Sequence[Block], content: str) -> set[int]:
    """The longest run of blocks whose words are those of the passage, or have all of them."""
    wanted = f" {_words(content)} "
    runs: list[set[int]] = [set()]
    for number, block in enumerate(made):
        words = f" {_words(_TAG.sub(' ', block.html))} "
        is_part = len(words.split()) >= _FEWEST_WORDS and words in wanted
        is_around = len(wanted.split()) >= _FEWEST_WORDS and wanted in words
        if is_part or is_around:
            runs[-1].add(number)
        elif runs[-1]:
            runs.append(set())
    return max(runs, key=len)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
