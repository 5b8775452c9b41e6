"""Replace marks in Markdown outside its code spans."""

import re
from collections.abc import Callable

CODE_SPAN = (
    r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>(?:(?!\n[ \t]*\n).){1,300}?)(?<!`)(?P=ticks)(?!`)"
)


def outside_code(*patterns: str, flags: re.RegexFlag = re.MULTILINE) -> re.Pattern[str]:
    """Compile alternatives behind that of a code span, whose group is `code`."""
    return re.compile("|".join([CODE_SPAN, *patterns]), flags | re.DOTALL)


def replace(
    pattern: re.Pattern[str], words: Callable[[re.Match[str]], str | None], text: str
) -> str:
    """Replace what a pattern of `outside_code` matches by its words (None leaves it), and keep the
    number of lines.
    """

    def shown(match: re.Match[str]) -> str:
        if match["code"] is not None or (text := words(match)) is None:
            return match[0]
        return text + "\n" * (match[0].count("\n") - text.count("\n"))

    return pattern.sub(shown, text)
