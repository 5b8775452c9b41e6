"""The tables of AsciiDoc as HTML: columns, spans, heads, cells with blocks."""

import csv
import re
from collections.abc import Callable
from html import escape

_CELL = re.compile(
    r"(?:(?<=\s)|^)(?P<times>\d+\*)?(?P<span>(?:\d+)?(?:\.\d+)?\+)?(?P<align>[<^>]?(?:\.[<^>])?)"
    r"(?P<style>[adehlmsv]?)(?<!\\)(?P<sign>[|!])",
    re.MULTILINE,
)
_MOST_TIMES = 100


def table(
    lines: list[str],
    style: str,
    sign: str,
    text: Callable[[str], str],
    blocks: Callable[[list[str]], str],
) -> str:
    """Return a table; `text` reads a cell, `blocks` a cell of the style `a`."""
    form = re.search(r"format=\"?(\w+)", style)
    separators = {",": ",", ":": ":", "csv": ",", "dsv": ":"}
    kind = separators.get(form[1] if form else sign, "")
    if kind:
        rows = [
            [(cell, "", "") for cell in row] for row in csv.reader(lines, delimiter=kind) if row
        ]
        width = max(map(len, rows), default=1)
        cells = [cell for row in rows for cell in (*row, *[("", "", "")] * (width - len(row)))]
    else:
        cells = _cells("\n".join(lines), sign)
        width = _width(style, lines, cells, sign)
    styles = _column_styles(style)
    has_head = "header" in style or (
        len(lines) > 1 and not lines[1].strip() and bool(lines[0].strip())
    )
    has_head = has_head and "noheader" not in style
    return f"<table>{_rows(cells, width, styles, text, blocks, has_head=has_head)}</table>"


def _cells(content: str, sign: str) -> list[tuple[str, str, str]]:
    """Return the text, the span and the style of each cell."""
    found = [match for match in _CELL.finditer(content) if match["sign"] == sign]
    cells = []
    for at, match in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(content)
        inner = content[match.end() : end].replace(f"\\{sign}", sign)
        times = min(int((match["times"] or "1*")[:-1]), _MOST_TIMES)
        cells += [(inner, match["span"] or "", match["style"])] * times
    return cells


def _width(style: str, lines: list[str], cells: list[tuple[str, str, str]], sign: str) -> int:
    """Return the number of columns: as stated, else that of the first line of cells."""
    if stated := re.search(r"cols=\"([^\"]+)\"|cols=([^\s,\]]+)", style):
        columns = re.split(r"[,;]", stated[1] or stated[2])
        times = (re.match(r"\s*(\d+)\*", column) for column in columns)
        counts = [min(int(each[1]), _MOST_TIMES) if each else 1 for each in times]
        return max(sum(counts), 1)
    first = next((line for line in lines if line.strip()), "")
    spans = (_span(span)[0] for _, span, _ in _cells(first, sign))
    return max(sum(spans), 1)


def _column_styles(style: str) -> list[str]:
    stated = re.search(r"cols=\"([^\"]+)\"", style)
    styles: list[str] = []
    for column in re.split(r"[,;]", stated[1]) if stated else ():
        match = re.fullmatch(r"\s*(?:(\d+)\*)?[<^>.\d%~]*([adehlmsv]?)\s*", column)
        if match:
            styles += [match[2]] * min(int(match[1] or 1), _MOST_TIMES)
    return styles


def _span(written: str) -> tuple[int, int]:
    columns, _, rows = written.rstrip("+").partition(".")
    most = _MOST_TIMES
    return min(int(columns or 1), most) or 1, min(int(rows or 1), most) or 1


def _rows(
    cells: list[tuple[str, str, str]],
    width: int,
    styles: list[str],
    text: Callable[[str], str],
    blocks: Callable[[list[str]], str],
    *,
    has_head: bool,
) -> str:
    written: list[str] = []
    row: list[str] = []
    taken = [0] * width  # the rows that a cell above covers in each column
    column = 0
    for content, span, own in cells:
        while column < width and taken[column]:
            taken[column] -= 1
            column += 1
        columns, rows = _span(span)
        style = own or (styles[column] if column < len(styles) else "")
        tag = "th" if (has_head and not written) or style == "h" else "td"
        spans = f' colspan="{columns}"' * (columns > 1) + f' rowspan="{rows}"' * (rows > 1)
        row.append(f"<{tag}{spans}>{_content(content, style, text, blocks)}</{tag}>")
        for at in range(column, min(column + columns, width)):
            taken[at] = rows - 1
        column += columns
        if column >= width:
            written.append(f"<tr>{''.join(row)}</tr>")
            row, column = [], 0
    if row:
        written.append(f"<tr>{''.join(row)}</tr>")
    return "".join(written)


def _content(
    content: str, style: str, text: Callable[[str], str], blocks: Callable[[list[str]], str]
) -> str:
    if style == "a":
        return blocks(content.strip("\n").split("\n"))
    if style in ("l", "m"):
        return f"<code>{escape(content.strip(), quote=False)}</code>" if content.strip() else ""
    paragraphs = re.split(r"\n\s*\n", content.strip())
    return "<br/>".join(text(" ".join(each.split())) for each in paragraphs)
