"""Plain text: headings by simple evidence, indented text as code; Markdown stays as it is."""

import re
from textwrap import dedent

from pgrag.ingest.formats.converted import Converted
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.escaping import escape, escape_start, fence, heading
from pgrag.ingest.values import Origin

_MARKDOWN = re.compile(r"^#{1,6} \S|^```|\]\((?:https?:|[\w./-]+\))", re.MULTILINE)
_PARAGRAPHS = re.compile(r"\n(?:[ \t\f]*\n)+")
_LINE = re.compile(r"([=\-~*^+])\1{2,}[ \t]*")
_NUMBERED = re.compile(r"(\d+(?:\.\d+)*)\.?[ \t]+[A-Z][^\n]{1,70}(?<![.:;,])")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 &/()'-]{2,70}")
_ITEM = re.compile(r"[ ]{0,3}(?:[-*+]|\d{1,3}[.)])[ \t]")


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a text; its headings have no ids, because a text is published as it is."""
    text, warnings = decode(key, data, origin)
    if not _MARKDOWN.search(text):
        paragraphs = _PARAGRAPHS.split(dedent(text.expandtabs()).strip("\n\f "))
        levels: dict[str, int] = {}
        blocks = (_block(paragraph, levels) for paragraph in paragraphs if paragraph.strip())
        text = "\n\n".join(blocks) + "\n"
    return Converted(text, tuple(warnings))


def _block(paragraph: str, levels: dict[str, int]) -> str:
    lines = paragraph.replace("\f", "").rstrip().split("\n")
    first = lines[0].strip()
    if len(lines) == 2 and (line := _LINE.fullmatch(lines[1].strip())):
        return heading(levels.setdefault(line[1], len(levels) + 1), escape(first))
    if len(lines) == 1 and (number := _NUMBERED.fullmatch(lines[0])):
        return heading(number[1].count(".") + 2, escape(first))
    if len(lines) == 1 and _CAPITALS.fullmatch(lines[0]):
        return heading(2, escape(first))
    if _ITEM.match(lines[0]):
        return "\n".join(_item(line) for line in lines)
    if all(line.startswith("    ") or not line for line in lines):
        return "\n".join(fence(dedent("\n".join(lines))))
    return "\n".join(escape_start(escape(line.strip())) for line in lines)


def _item(line: str) -> str:
    mark = _ITEM.match(line)
    return mark[0] + escape(line[mark.end() :]) if mark else escape(line)
