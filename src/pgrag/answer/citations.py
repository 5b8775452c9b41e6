"""Citations in a text: `[1]`, `[1][2]`, `[1, 2]`, `[1-3]`; brackets in code do not count."""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass

LONGEST_RANGE = 20
"""Sources that `[a-b]` may stand for; a longer range means its two ends."""

_NUMBERS = r"\^?\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*"
# Some models write [Source 1], 【1】 or 【1†title】, and some escape the brackets.
_NAME = r"(?:(?:sources?|quellen?|источники?|#)\s?)?"
_BRACKETS = (
    rf"\\?\[\s?{_NAME}(?P<plain>{_NUMBERS})\s?\\?\]"
    rf"|【\s?{_NAME}(?P<wide>{_NUMBERS})(?:†[^】\n]{{0,80}})?】"
)
_TOKEN = re.compile(rf"(?P<code>`+)|{_BRACKETS}", re.IGNORECASE)
_UNFINISHED = re.compile(r"(?:\\?\[\s?(?:[^\W\d_]{1,9}|#)?[\s^\d,;–-]{0,60}\\?|【[^】]{0,100}|\\)$")
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
_MAY_BE_FENCE = re.compile(r"\s*(?:`{0,2}|~{0,2}|`{3,}[^`]*|~{3,}.*)$")
_RANGE = re.compile(r"(\d+)\s?[–-]\s?(\d+)|(\d+)")


@dataclass(frozen=True, slots=True)
class Citation:
    """A cited source: its number, and the offsets of the brackets."""

    number: int
    start: int
    end: int


class CitationReader:
    """Finds citations in a text in pieces; reports each as soon as later text cannot undo it."""

    def __init__(self) -> None:
        self._rest = ""
        self._offset = 0
        self._fence = ""
        self._is_line_start = True

    def feed(self, piece: str) -> list[Citation]:
        """Take the next piece; return the citations that are now certain."""
        self._rest += piece
        return list(self._lines(is_end=False))

    def finish(self) -> list[Citation]:
        """Return the citations that only the end of the text makes certain."""
        return list(self._lines(is_end=True))

    def _lines(self, *, is_end: bool) -> Iterator[Citation]:
        while True:
            line, newline, _ = self._rest.partition("\n")
            is_whole = bool(newline) or is_end
            if self._is_line_start and (self._fence or _MAY_BE_FENCE.match(line)):
                if not is_whole:
                    return
                if self._is_code(line):
                    line_end = len(line)
                else:
                    line_end = yield from self._read(line, is_whole=True)
            else:
                line_end = yield from self._read(line, is_whole=is_whole)
                self._is_line_start = self._is_line_start and line_end == 0
            if not newline:
                self._consume(line_end)
                return
            self._consume(len(line) + 1)
            self._is_line_start = True

    def _is_code(self, line: str) -> bool:
        """Whether a whole line is part of a fenced block; tracks where a block begins and ends."""
        if self._fence:
            closing = line.strip()
            if closing.startswith(self._fence) and not closing.strip(self._fence[0]):
                self._fence = ""
            return True
        if fence := _FENCE.match(line):
            self._fence = fence[1]
        return bool(fence)

    def _read(self, line: str, *, is_whole: bool) -> Generator[Citation, None, int]:
        """Yield the citations of a line; return the offset up to which the line is settled."""
        position = 0
        while token := _TOKEN.search(line, position):
            if run := token["code"]:
                closing = re.compile(rf"(?<!`){run}(?!`)").search(line, token.end())
                if not is_whole and (closing is None or closing.end() == len(line)):
                    return token.start()
                position = closing.end() if closing else token.end()
                continue
            for number in _numbers(token["plain"] or token["wide"]):
                yield Citation(number, self._offset + token.start(), self._offset + token.end())
            position = token.end()
        unfinished = None if is_whole else _UNFINISHED.search(line, position)
        return unfinished.start() if unfinished else len(line)

    def _consume(self, count: int) -> None:
        self._rest = self._rest[count:]
        self._offset += count


def _numbers(text: str) -> list[int]:
    numbers: list[int] = []
    for match in _RANGE.finditer(text):
        if match[3]:
            numbers.append(int(match[3]))
            continue
        first, last = int(match[1]), int(match[2])
        is_range = first <= last < first + LONGEST_RANGE
        numbers.extend(range(first, last + 1) if is_range else (first, last))
    return list(dict.fromkeys(numbers))
