"""Escape the syntax in a text, so that Markdown and its dialects show it as written."""

import re
from collections.abc import Sequence

_SIGN = re.compile(r"[\\`*_<&\[\]{~%#]")
_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`"
    r"|\*(?=\S)|(?<=\S)\*"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|<(?=[A-Za-z/!?])|&(?=#?\w{1,32};)"
    r"|\[(?=[\[^!])|\](?=[(\[:])"
    r"|\{(?=[{%*/#.:])|~(?=~)|%(?=%)"
    r"|(?:^|(?<=\s))#(?=[^\s\d])"
)
_LINE_START = re.compile(
    r"(?P<digits>\d{1,9})(?=[.)](?:\s|$))|(?=[-+*](?:\s|$)|[#>|]|:{3}|!{3}|\?{3}|/{3}|-{3}|={2}|~{3}"
    r"|===)"
)
#: What would be read as an id, or as the closing signs of a heading.
_IN_HEADING = re.compile(r"\{|#(?=#*\s*$)")


def escape(text: str) -> str:
    """Escape the inline syntax of a text."""
    if _SIGN.search(text) is None:
        return text
    return _SPECIAL.sub(lambda match: "&amp;" if match[0] == "&" else "\\" + match[0], text)


def escape_start(line: str) -> str:
    """Escape the mark of a list, heading, quote or fence at the beginning of an escaped line."""
    if match := _LINE_START.match(line):
        digits = match["digits"] or ""
        return f"{digits}\\{line[len(digits) :]}"
    return line


def heading(level: int, words: str, anchor: str = "") -> str:
    """Return a heading; `words` is inline Markdown, `anchor` the id with which it is published."""
    shown = _IN_HEADING.sub(lambda match: "\\" + match[0], " ".join(words.split()))
    mark = f" {{#{_ID_UNSAFE.sub(_percent, anchor)}}}" if anchor else ""
    return f"{'#' * min(max(level, 1), 6)} {shown}{mark}"


_ID_UNSAFE = re.compile(r"[\s#{}]")


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


def fence(code: str, language: str = "") -> list[str]:
    """Return the lines of a code block."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    mark = "`" * (longest + 1)
    return [mark + language, *code.split("\n"), mark]


def table_lines(rows: Sequence[Sequence[str]], *, is_filled: bool = True) -> list[str]:
    """Return the lines of a table whose first row is the head; `is_filled` completes short rows."""
    width = max(map(len, rows))
    lines = []
    for row in rows:
        cells = [" ".join(cell.replace("|", "\\|").split()) for cell in row]
        cells += [""] * (width - len(row)) if is_filled else []
        lines.append(f"| {' | '.join(cells)} |")
    return [lines[0], "|" + " --- |" * width, *lines[1:]]
