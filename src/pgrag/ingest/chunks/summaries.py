"""Extractive summaries of pages and sections: first sentences and outline."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

from pgrag.ingest.text.inline import plain
from pgrag.ingest.text.sentences import shortened
from pgrag.ingest.values import Block, Section

PAGE_LEAD = 400
SECTION_LEAD = 300
SECTION_SUMMARY = 500
PAGE_SUMMARY = 1200
_PROSE = frozenset({"text", "callout", "quote", "list", "html"})
_MARK = re.compile(r"[\s>]*(?:(?P<item>(?:[-*+]|\d{1,9}[.)])(?:\s+:)?)\s+)?(?:#{1,6}\s+)?")
_CUT_LINK = re.compile(r"!?\[{1,2}[^\[\]]*(?:\]\([^()]*)?$")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")


def page_summary(title: str, description: str | None, sections: Sequence[Section]) -> str:
    """Return the description, else the first sentences, and the headings as a list. At most 1200
    characters: headings that no longer fit are omitted. The title stands in for a page without text
    and headings.
    """
    lead = _shortened(plain(description), PAGE_LEAD) if description else ""
    lead = lead or _lead((block for section in sections for block in section.blocks), PAGE_LEAD)
    lead = lead or title
    shown = [section for section in sections if section.level and section.heading != title]
    top = min((section.depth for section in shown), default=1)
    lines = (f"{'  ' * (section.depth - top)}- {section.heading}" for section in shown)
    return _with_lines(lead, lines, PAGE_SUMMARY - len(lead) - 2)


def section_summary(sections: Sequence[Section], index: int) -> str:
    """Return the first sentences of a section and, as a list, of its children; else its heading. At
    most about 500 characters.
    """
    section = sections[index]
    lead = _lead(section.blocks, SECTION_LEAD if section.children else SECTION_SUMMARY)
    lines = (
        f"- {sections[child].heading}" + (f": {first}" if first else "")
        for child in section.children
        for first in [_lead(sections[child].blocks, SECTION_LEAD // 2)]
    )
    return _with_lines(lead, lines, SECTION_SUMMARY - len(lead)) or section.heading


def _with_lines(lead: str, lines: Iterable[str], room: int) -> str:
    """Return the lead and below it as many of the lines as fit."""
    written = [*lines]
    sizes = accumulate(len(line) + 1 for line in written)
    fitting = (line for line, size in zip(written, sizes, strict=True) if size <= room)
    return "\n\n".join(filter(None, (lead, "\n".join(fitting))))


def _lead(blocks: Iterable[Block], limit: int) -> str:
    """Return the first sentences of the prose blocks, or of any block if none is prose."""
    words: list[str] = []
    size = 0
    other = ""
    for block in blocks:
        if block.type not in _PROSE:
            other = other or block.text
            continue
        text = plain(_unmarked(_beginning(block.text, 2 * limit)))
        if text:
            words.append(text)
            size += len(text) + 1
        if size > limit:
            break
    return _shortened(" ".join(words) or plain(_unmarked(_beginning(other, 2 * limit))), limit)


def _beginning(text: str, size: int) -> str:
    """Return the beginning of a text, cut before an incomplete link."""
    return text if len(text) <= size else _CUT_LINK.sub("", text[:size])


def _unmarked(text: str) -> str:
    """Remove the marks of lists, quotes and fences; end list items with a semicolon."""
    lines: list[str] = []
    for line in text.split("\n"):
        match = _MARK.match(line)
        if lines and match and match["item"] and lines[-1][-1] not in ".!?:;,…":
            lines[-1] += ";"
        words = line[match.end() :] if match else line
        if words.strip() and not _FENCE.match(words):
            lines.append(words.strip())
    return "\n".join(lines)


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else shortened(text, limit, closing="\"')”»")
