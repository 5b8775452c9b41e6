"""Markdown as a terminal shows it: whole texts and excerpts, without their marks.

An excerpt begins and ends anywhere, in code and in tables too. Lines are therefore read one by one,
and the passage that an excerpt comes from tells what it begins with.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

from pgrag.cli import texts
from pgrag.cli.output import stdout
from pgrag.cli.texts import cell_len
from pgrag.ground.printable import printable

if TYPE_CHECKING:
    from rich.text import Text

_MATCH, _CODE = "bold yellow", "cyan"
#: Stand for the `**` around a match, which are not Markdown.
_BEGIN, _END = "\ue001", "\ue002"
_FOUND = re.compile(r"\*\*([^\s*](?:[^*\n]*[^\s*])?)\*\*")
#: What an excerpt leaves out.
_GAP = " … "
#: An end of a piece of this length tells where it stands.
_KNOWN = 30
_WIDEST_TABLE, _LONGEST_TABLE = 100, 12

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)(?:\s+#+)?(?:\s*\{#[^}]*\})?\s*$")
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}\\?[.)])[ \t]+(?=\S)")
_DROPPED = re.compile(r"\s*(?:=+|-{2,}|([-*_])(?:\s*\1){2,}|:{3,}.*|\[[^\]\n]+\]:\s+\S.*)\s*$")
_QUOTE = re.compile(r"\A(?:[ ]{0,3}>[ \t]?)+")
_CALLOUT = re.compile(r"\A\[!([\w-]+)\][+-]?[ \t]*(.*)")
_BLOCK_ID = re.compile(r"[ \t]\^[\w-]+\s*$")
_TABLE_RULE = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?)?\s*$")
_CELL = re.compile(r"(?<!\\)\|")
_ADDRESS = (
    r"(?:\((?:<[^>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)|\[[^\]\n]*\])"
)
#: What a mark encloses is bounded, so that hostile pages cost no time.
_INLINE = re.compile(
    r"(?P<ticks>`+)(?P<code>(?!`).{1,2000}?)(?<!`)(?P=ticks)(?!`)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|!?\[\[(?:[^\[\]|\n]{1,300}\|)?(?P<page>[^\[\]|\n]{1,300})\]\]"
    rf"|!?\[(?P<link>(?:[^\[\]]|\[[^\[\]]{{0,300}}\]){{0,1000}})\]{_ADDRESS}"
    r"|<(?P<address>[A-Za-z][\w+.-]*:[^<>\s]+|[^<>\s@]+@[^<>\s]+)>"
    r"|(?P<dropped>\[\^[^\]\n]+\]|<!--.{0,2000}?-->|</?[A-Za-z][^<>]*>)"
    r"|\*\*(?P<strong>(?=\S).{1,2000}?(?<=\S))\*\*(?!\*)"
    r"|(?<!\w)__(?P<strong_too>(?=\S).{1,2000}?(?<=\S))__(?!\w)"
    r"|(?<![\w*])\*(?P<emphasis>(?=[^\s*])[^*\n]*(?<=\S))\*(?![\w*])"
    r"|(?<!\w)_(?P<emphasis_too>(?=[^\s_])[^_\n]*(?<=\S))_(?!\w)"
    r"|~~(?P<struck>(?=\S).{1,2000}?(?<=\S))~~|==(?P<lit>(?=[^\s=])[^=\n]*(?<=\S))=="
    r"|(?P<entity>&(?:[A-Za-z]+|#\d+|#x[0-9A-Fa-f]+);)",
    re.DOTALL,
)
_STYLES = {
    "strong": "bold", "strong_too": "bold", "emphasis": "italic", "emphasis_too": "italic",
    "link": "", "page": "", "address": "", "struck": "", "lit": "",
}  # fmt: skip
_BREAK = re.compile(r"</?(?:br|p|div|li|t[dr])\b", re.IGNORECASE)
#: What SQL removes from a passage before it cuts an excerpt.
_REMOVED = re.compile(rf"\*\*(\S|\S[^*\n]*\S)\*\*|(?<=\]){_ADDRESS}")


@dataclass(slots=True)
class _Block:
    """A paragraph, an item, a heading, a line of code, or the lines of a whole or cut table."""

    kind: str
    text: str
    mark: str = ""
    indent: int = 0


def rendered(markdown: str, width: int) -> list[Text]:
    """Return the lines of a Markdown text for a terminal of this width."""
    lines: list[Text] = []
    for block in _blocks(printable(markdown).split("\n")):
        if block.kind != "blank" or (lines and lines[-1]):
            lines += _lines(block, width)
    return lines


def excerpt(snippet: str, content: str, width: int) -> list[Text]:
    """Return the lines of an excerpt, its matches marked, from a passage with this content.

    A word that an end of the excerpt cuts is completed, a table is whole or left out.
    """
    source = _REMOVED.sub(r"\1", printable(content))
    links = {one["link"] for one in _INLINE.finditer(content) if one["link"]}
    blocks: list[_Block] = []
    for piece in _pieces(_FOUND.sub(rf"{_BEGIN}\1{_END}", snippet), source):
        text, in_code = _in_place(printable(piece), source)
        text = _without_brackets(text, links)
        made = [each for each in _blocks(text.split("\n"), in_code=in_code) if each.kind != "blank"]
        if blocks and made and blocks[-1].kind == made[0].kind in {"text", "table"}:
            gap = _GAP if made[0].kind == "text" else "\n"
            blocks[-1].text += gap + made.pop(0).text
        elif blocks and made:
            blocks.append(_Block("text", "…"))
        blocks += made
    for block in blocks:
        if block.kind == "table":
            whole = _whole_table(block.text, source)
            block.kind, block.text = "table" if whole else "cut", whole or block.text
    return [line for block in blocks for line in _lines(block, width)]


def plain(markdown: str) -> str:
    """Return a line of Markdown without its marks."""
    return "".join(text for text, _ in _inline(markdown))


def _pieces(snippet: str, source: str) -> Iterator[str]:
    """Yield the pieces of an excerpt; those that a few characters separate are one."""
    made, end = "", -1
    for piece in snippet.split(_GAP):
        bare = _bare(piece)
        start = source.find(bare[:_KNOWN], max(end, 0)) if bare else -1
        if made and 0 <= end <= start <= end + _KNOWN:
            made += source[end:start] + piece
        else:
            if made:
                yield made
            made = piece
        end = source.find(bare[-_KNOWN:], start) if start >= 0 else -1
        end += len(bare[-_KNOWN:]) if end >= 0 else 0
    if made:
        yield made


def _bare(piece: str) -> str:
    return piece.replace(_BEGIN, "").replace(_END, "").strip("… ")


def _in_place(piece: str, source: str) -> tuple[str, bool]:
    """Return a piece of the source with its cut words completed, and whether it begins in code."""
    bare = _bare(piece)
    start = source.find(bare[:_KNOWN])
    end = source.find(bare[-_KNOWN:], max(start, 0)) + len(bare[-_KNOWN:])
    fences = [mark for mark in map(_FENCE.fullmatch, piece.split("\n")) if mark]
    in_code = len(fences) % 2 == 1 and not fences[0][2]
    head = tail = ""
    if bare and start >= 0:
        lines = source[:start].split("\n")
        in_code = sum(_FENCE.fullmatch(line) is not None for line in lines[:-1]) % 2 == 1
        head = re.split(r"\s", lines[-1])[-1]
        before = source[: start - len(head)].rpartition("\n\n")[2]
        if not in_code and before.count("`") % 2 == 1:  # it begins in code within a line
            head = f"`{head}"
    if bare and source[:end].endswith(bare[-_KNOWN:]):
        tail = re.split(r"\s", source[end:], maxsplit=1)[0]
    lead = "… " if piece.startswith("… ") else ""
    rest = " …" if piece.endswith(" …") else ""
    kept = piece.removeprefix("… ").removesuffix(" …")
    return f"{lead}{head}{kept}{tail}{rest}", in_code


def _without_brackets(text: str, links: set[str]) -> str:
    """Return an excerpt, whose links have lost their addresses, without the brackets of links."""

    def label(match: re.Match[str]) -> str:
        bare = match[1].replace(_BEGIN, "").replace(_END, "")
        return match[1] if bare in links else match[0]

    text = re.sub(r"(?<!\[)!?\[([^\[\]]+)\](?![\](])", label, text)
    text = re.sub(r"!?\[\[(?:[^\]|\n]*\|)?([^\]|\n]*)$", r"\1", text)
    if (cut := re.search(r"\[([^\[\]]+)$", text)) and any(
        link.startswith(cut[1].removesuffix(" …")) for link in links
    ):
        return f"{text[: cut.start()]}{cut[1]}"
    return text


def _blocks(lines: Sequence[str], *, in_code: bool = False) -> Iterator[_Block]:
    """Yield the blocks of a text that may begin in code."""
    made: _Block | None = None
    is_after_blank = True
    for line in lines:
        block = _read(line, in_code=in_code, is_after_blank=is_after_blank)
        in_code ^= block.kind == "fence"
        is_after_blank = block.kind == "blank"
        if made and block.kind == made.kind == "table":
            made.text += f"\n{line}"
        elif made and block.kind == made.kind == "text" and not block.mark:
            made.text = _joined(made.text, block.text)
        else:
            if made and made.kind != "fence":
                yield made
            made = block
    if made and made.kind != "fence":
        yield made


def _read(line: str, *, in_code: bool, is_after_blank: bool) -> _Block:
    """Return the block that a line begins or continues; a "fence" is not shown."""
    kind = ""
    if _FENCE.fullmatch(line):
        kind = "fence"
    elif in_code:
        kind = "code"
    elif not line.strip() or _DROPPED.fullmatch(line):
        kind = "blank"
    elif _is_row(line):
        kind = "table"
    if kind:
        return _Block(kind, line)
    if heading := _HEADING.fullmatch(line):
        return _Block("heading", heading[1])
    if is_after_blank and line.startswith(("\t", "    ")) and not _ITEM.match(line):
        return _Block("code", line.expandtabs(4)[4:])
    text = _BLOCK_ID.sub("", _QUOTE.sub("", line, count=1))
    text = _CALLOUT.sub(lambda named: f"{named[2] or named[1].capitalize()}:", text)
    if item := _ITEM.match(text):
        mark = item[2].replace("\\", "") if item[2][0].isdigit() else "-"
        return _Block("text", text[item.end() :], f"{mark} ", len(item[1].expandtabs(4)))
    return _Block("text", text.strip())


def _joined(text: str, more: str) -> str:
    """Join the lines of a paragraph; scripts without spaces are joined without one."""
    text = text.rstrip().removesuffix("\\")
    wide = text[-1:] and more and cell_len(text[-1]) == 2 == cell_len(more[0])
    return f"{text}{'' if wide else ' '}{more}"


def _is_row(line: str) -> bool:
    bare = line.strip()
    bars = len(_CELL.findall(re.sub(r"(`+).+?\1|\[\[[^\[\]]*(?:\]\]|$)", "", bare)))
    return bars > 1 or bare[:1] == "|" or (bars == 1 and bare[-1] == "|")


def _lines(block: _Block, width: int) -> Iterator[Text]:
    if block.kind == "blank":
        yield texts.Text()
    elif block.kind in {"table", "cut"}:
        rows = block.text.split("\n")
        whole = [] if block.kind == "cut" else _table(rows, min(width, _WIDEST_TABLE))
        yield from whole or _left_out(rows, width)
    elif block.kind == "code":
        yield from _wrapped(_text([(block.text.rstrip(), _CODE)]), "  ", "    ", width)
    elif block.kind == "heading":
        yield from _wrapped(_text(_inline(block.text), "bold"), "", "", width)
    else:
        first = " " * block.indent + block.mark
        shown = _text(_inline(block.text))
        if shown.plain.strip():
            yield from _wrapped(shown, first, " " * len(first), width)


def _wrapped(text: Text, first: str, further: str, width: int) -> Iterator[Text]:
    """Yield a text in lines of a width, each with its indentation, broken between words."""
    lines = text.wrap(stdout(), max(20, width - max(len(first), len(further))))
    for number, line in enumerate(lines):
        shown = texts.Text(further if number else first).append_text(line)
        shown.rstrip()
        yield shown


def _text(parts: Sequence[tuple[str, str]], style: str = "") -> Text:
    """Return styled parts as one text, its matches highlighted."""
    shown, is_match = texts.Text(), False
    for part, own in parts:
        for piece in re.split(f"([{_BEGIN}{_END}])", part):
            if piece in {_BEGIN, _END}:
                is_match = piece == _BEGIN
            else:
                shown.append(piece, style=_MATCH if is_match else own or style)
    return shown


def _inline(markdown: str, style: str = "") -> list[tuple[str, str]]:
    """Return the parts of a line of Markdown with their styles."""
    parts: list[tuple[str, str]] = []
    position = 0
    for mark in _INLINE.finditer(markdown):
        parts.append((_tidied(markdown[position : mark.start()]), style))
        position = mark.end()
        kind = mark.lastgroup or ""
        if kind in _STYLES:
            parts += _inline(mark[kind].removeprefix("#"), _STYLES[kind] or style)
        elif mark["code"] is not None:
            parts.append((mark["code"].strip() or mark["code"], _CODE))
        elif mark["entity"] is not None:
            meant = html.unescape(mark["entity"]).replace("\xa0", " ")
            parts.append((printable(meant), style))
        elif mark["dropped"] is not None:
            parts.append((" " if _BREAK.match(mark["dropped"]) else "", style))
        elif mark["escaped"] is not None:
            parts.append((mark["escaped"], style))
    return [*parts, (_tidied(markdown[position:]), style)]


def _tidied(text: str) -> str:
    """Return a text without the marks of code that an excerpt has cut, or gaps of removed tags."""
    return re.sub(r"[ \t]{2,}", " ", text.replace("`", ""))


def _cells(row: str) -> list[str]:
    bare = row.strip().removeprefix("|")
    bare = bare[:-1] if re.search(r"(?<!\\)\|$", bare) else bare
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(bare)]


def _table(rows: Sequence[str], width: int) -> list[Text]:
    """Return the lines of a table; none if it is wider than this, or no table."""
    if len(rows) < 2 or not _TABLE_RULE.fullmatch(rows[1]):
        return []
    table = [[_text(_inline(cell)) for cell in _cells(row)] for row in (rows[0], *rows[2:])]
    columns = zip_longest(*table, fillvalue=texts.Text())
    widths = [max(cell.cell_len for cell in column) for column in columns]
    if sum(widths) + 2 * (len(widths) - 1) > width:
        return []
    lines = []
    for number, row in enumerate(table):
        line = texts.Text(style="" if number else "bold")
        for cell, wide in zip(row, widths, strict=False):
            line.append_text(cell).append(" " * (wide - cell.cell_len + 2))
        line.rstrip()
        lines.append(line)
    return lines


def _left_out(rows: Sequence[str], width: int) -> Iterator[Text]:
    """Yield what stands for a table: a mark, and its rows with matches."""
    mark = "[table] "
    cells = [" · ".join(filter(None, _cells(row))) for row in rows if _BEGIN in row]
    for number, row in enumerate(dict.fromkeys(cells or [""])):
        indent = " " * len(mark)
        yield from _wrapped(_text(_inline(row)), indent if number else mark, indent, width)


def _whole_table(rows: str, source: str) -> str | None:
    """Return the table of the source that has these rows, if it is short, with their matches."""
    found = [row.strip("… ") for row in rows.split("\n") if not _TABLE_RULE.fullmatch(row)]
    bare = {row.replace(_BEGIN, "").replace(_END, ""): row for row in found}
    longest = max(bare, key=len, default="")
    for is_table, lines in groupby(source.split("\n"), _is_row):
        table = list(lines) if is_table else []
        if longest and len(table) <= _LONGEST_TABLE and any(longest in line for line in table):
            return "\n".join(
                next((line.replace(part, bare[part]) for part in bare if part in line), line)
                for line in table
            )
    return None
