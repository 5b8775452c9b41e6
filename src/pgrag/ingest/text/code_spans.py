"""Replace marks in Markdown outside its code spans."""

import re
from collections.abc import Callable

#: Most spans are of one line without backticks: these are found at once.
CODE_SPAN = (
    r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>[^`\n]{1,300}(?=(?P=ticks)(?!`))"
    r"|(?:(?!\n[ \t]*\n).){1,300}?)(?<!`)(?P=ticks)(?!`)"
)


class Marks:
    """Marks that are replaced in text, not in code spans. `sign` matches where one of the
    `patterns` or a code span may begin: to try the patterns anywhere takes long.
    """

    def __init__(self, sign: str, *patterns: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._sign = re.compile(sign, flags)
        self._marks = re.compile("|".join([CODE_SPAN, *patterns]), flags | re.M | re.S)

    def replace(self, words: Callable[[re.Match[str]], str | None], text: str) -> str:
        """Replace the marks by their words (None leaves them); keeps the number of lines."""
        parts: list[str] = []
        copied = at = 0
        while sign := self._sign.search(text, at):
            match = self._marks.match(text, sign.start())
            if match is None:
                at = sign.start() + 1
                continue
            at = match.end()
            if match["code"] is None and (shown := words(match)) is not None:
                lines = match[0].count("\n") - shown.count("\n")
                parts += (text[copied : match.start()], shown, "\n" * lines)
                copied = at
        return "".join((*parts, text[copied:]))
