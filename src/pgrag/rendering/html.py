"""The sanitised HTML of a page, with a passage marked in it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Self

from pgrag.ingest.text.shown import shown
from pgrag.rendering.blocks import Block, blocks
from pgrag.rendering.clean import clean
from pgrag.rendering.marking import PART, Lines, Marking, parts_within
from pgrag.rendering.window import Window

#: A passage or a block with fewer words is not found by its text.
_FEWEST_WORDS = 3
_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"<h[1-6]")
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class Sought:
    """A passage to mark: level 0 is the summary of the page; lines from 0 are unknown."""

    level: int
    lines: Lines
    content: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """The passage of a row of `pgrag.document`."""
        return cls(row["level"], (row["line_start"], row["line_end"]), row["content"])


def rendered_blocks(part: Window, *, is_markdown: bool) -> list[Block]:
    """The sanitised blocks of a part, with the lines that they have in the source."""
    above = part.first - part.added - 1
    text = shown(part.text, is_markdown=is_markdown)
    made = []
    for block in blocks(text, above=above, has_wikilinks=is_markdown):
        html = clean(block.html).rstrip()
        if not html or block.first > part.last:
            continue
        if block.tag and html.startswith(f"<{block.tag}"):
            made.append(replace(block, html=html))
        else:
            lines = f"{block.first}-{block.last}"
            html = f'<div data-lines="{lines}">{html}</div>'
            kind = "heading" if block.kind == "heading" else "html"
            made.append(replace(block, html=html, kind=kind, tag="div"))
    return made


@dataclass(slots=True)
class _Marked:
    """How a passage was found, and what is marked: whole blocks, and parts of others."""

    by: str
    whole: set[int]
    parts: dict[int, Sequence[Lines]]
    code: dict[int, Lines]


def assembled(
    made: Sequence[Block], marking: Marking, anchors: Mapping[int, str], passage: Sought | None
) -> tuple[str, str | None]:
    """The HTML of all blocks, and how the passage was found in them."""
    found = _found(made, passage) if passage else _Marked("nothing", set(), {}, {})
    written: list[str] = []
    for number, block in enumerate(made):
        html = marking.marked(block.html, found.parts.get(number, ()), found.code.get(number))
        if block.kind == "heading" and (anchor := anchors.get(block.first)):
            identifier = f' id="{escape(anchor)}"'
            html = _HEADING.sub(lambda match, added=identifier: match[0] + added, html, count=1)
        if number in found.whole and number - 1 not in found.whole:
            written.append(f"<div{PART}>")
        written.append(html)
        if number in found.whole and number + 1 not in found.whole:
            written.append("</div>")
    html = "\n".join(written)
    if "passage" not in anchors.values():
        html = html.replace("\0", ' id="passage"', 1)
    return html.replace("\0", ""), found.by if passage else None


def _found(made: Sequence[Block], passage: Sought) -> _Marked:
    if passage.level == 0:
        return _Marked("page", set(), {}, {})
    lines = passage.lines
    if not lines[0]:
        whole = _alike(made, passage.content)
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
    if made and len(found.whole) == len(made) and not found.parts and not found.code:
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
