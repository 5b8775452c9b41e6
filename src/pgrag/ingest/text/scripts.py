"""Find the ends of JavaScript within Markdown, in time that follows the size of the text."""

import re

from pgrag.ingest.text.code_spans import CODE_SPAN

MATH = r"\$\$.*?\$\$|\$(?![\s$])[^$\n]{0,500}?(?<!\s)\$(?![\w$])"
_IN_TEXT = re.compile(rf"{CODE_SPAN}|\\.|{MATH}|=[ \t]*\"[^\"\n]*\"|=[ \t]*'[^'\n]*'|[{{]", re.S)
_STRINGS = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|/\*|(?<![:\w])//[^\n]*"
_IN_SCRIPT = re.compile(rf"{_STRINGS}|[{{}}]", re.S)
_IN_STATEMENT = re.compile(rf"{_STRINGS}|[\[({{]|[\])}}]|\n", re.S)
_GOES_ON = re.compile(r"[=,(&|?:+]\s*$|=>\s*$|\bfrom\s*$")
_CONTINUES = re.compile(r"\n[ \t]*(?:[.?:&|+=]|from\b)")
_BLANK = re.compile(r"\n[ \t]*(?:\n|$)")


def braces(text: str) -> dict[int, int]:
    """Map the offset of each brace to the end of its pair; braces in code, formulas, strings and
    comments have none.
    """
    pairs: dict[int, int] = {}
    opened: list[int] = []
    at = 0
    while match := (_IN_SCRIPT if opened else _IN_TEXT).search(text, at):
        at = match.end()
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}":
            pairs[opened.pop()] = at
        elif match[0] == "/*":
            end = text.find("*/", at)
            at = len(text) if end < 0 else end + 2
    return pairs


class Statements:
    """Finds the ends of imports and exports; one that is never closed is not tried twice."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_broken = False

    def end(self, start: int) -> int:
        """Return the end of the line with which a statement ends: where all brackets are closed,
        else before the next empty line.
        """
        text, depth, at = self._text, 0, start
        while not self._is_broken and (match := _IN_STATEMENT.search(text, at)):
            sign, at = match[0], match.end()
            if sign == "/*":
                end = text.find("*/", at)
                at = len(text) if end < 0 else end + 2
            elif sign in "([{":
                depth += 1
            elif sign in ")]}":
                depth -= 1
            elif sign == "\n" and depth <= 0:
                line = text[max(start, at - 80) : at - 1]
                goes_on = _GOES_ON.search(line) or _CONTINUES.match(text, at - 1)
                if not goes_on or _BLANK.match(text, at - 1):
                    return at - 1
        if not self._is_broken and depth <= 0:
            return len(text)
        self._is_broken = True
        blank = _BLANK.search(text, start)
        return blank.start() if blank else len(text)
