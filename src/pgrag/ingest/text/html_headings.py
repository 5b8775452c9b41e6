"""Headings that a Markdown page writes as HTML (`<h1 align="center">`), as those of Markdown."""

import re
from collections.abc import Sequence

from markdown_it.token import Token

from pgrag.ingest.text.html_text import readable

_SIGN = re.compile(r"<h[1-6]\b", re.IGNORECASE)
_HEADING = re.compile(
    r"<h(?P<level>[1-6])\b(?P<attributes>[^<>]*)>(?P<words>(?:(?!</?h[1-6]\b).){0,2000}?)"
    r"</h(?P=level)\s*>",
    re.IGNORECASE | re.DOTALL,
)
_ID = re.compile(r"(?<![\w-])(?:id|name)=[\"']?([^\s\"'<>]+)", re.IGNORECASE)
_NO_HEADINGS = re.compile(r"[ \t]*<(?:!--|(?:script|style|pre|textarea)\b)", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
#: A heading in HTML may contain empty lines, which end its block of Markdown.
_MOST_LINES = 20


def rewrite(lines: Sequence[str], tokens: Sequence[Token], *, with_ids: bool) -> list[str] | None:
    """Return as many lines, in which the blocks of HTML with headings are Markdown; None without
    any.
    """
    if not any(token.type == "html_block" and _SIGN.search(token.content) for token in tokens):
        return None
    result = [*lines]
    done = 0
    code = {token.map[0] for token in tokens if token.type in ("fence", "code_block") and token.map}
    for token in tokens:
        start, end = token.map or (0, 0)
        if token.type != "html_block" or token.level or start < done:
            continue
        if _NO_HEADINGS.match(token.content) or not _SIGN.search(token.content):
            continue
        end = _end(lines, start, end, code)
        block = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), "\n".join(lines[start:end]))
        has_room = end < len(lines) and not lines[end].strip()
        if written := _markdown(block, has_room=has_room, with_ids=with_ids):
            result[start : start + len(written)] = written
        done = end
    return result


def _end(lines: Sequence[str], start: int, end: int, code: set[int]) -> int:
    """Return the line after the block, extended to the end of a heading that empty lines cut."""
    block = "\n".join(lines[start:end]).lower()
    opened = block.rfind("<h")
    sign = _SIGN.match(block, max(opened, 0))
    if sign and f"</h{sign[0][2]}" not in block[opened:]:
        for number in range(end, min(end + _MOST_LINES, len(lines))):
            if number in code or lines[number].startswith("#"):
                break
            if f"</h{sign[0][2]}" in lines[number].lower():
                return number + 1
    return end


def _markdown(block: str, *, has_room: bool, with_ids: bool) -> list[str] | None:
    """Return the lines of a block with each heading in its line. Text that would have to share the
    line of a heading moves to the next one, after the last to the empty line below, if it
    `has_room`; else there is no way to write the block in its lines.
    """
    written: list[str] = []
    text = ""
    read = 0
    for heading in _HEADING.finditer(block):
        text += block[read : heading.start()]
        read = heading.end()
        line = block.count("\n", 0, heading.start())
        if line > len(written):
            written += _lines(text, line - len(written))
            text = ""
        if words := " ".join(readable(heading["words"]).split()):
            written += [""] * (line - len(written))
            identifier = _ID.search(heading["attributes"]) or _ID.search(heading["words"])
            anchor = f" {{#{identifier[1]}}}" if identifier and with_ids else ""
            written.append(f"{'#' * int(heading['level'])} {words}{anchor}")
    room = block.count("\n") + 1 - len(written)
    rest = _lines(text + block[read:], max(room, 1))
    if len(rest) > room + has_room:
        return None
    return [*written, *rest, *[""] * (room - len(rest))] if room >= 0 else None


def _lines(part: str, room: int) -> list[str]:
    """Return the shown lines of a part; those that have no room are joined to the last."""
    lines = [line for line in readable(part).split("\n") if line.strip("*_`- ")]
    return lines if len(lines) <= room else [*lines[: room - 1], " ".join(lines[room - 1 :])]
