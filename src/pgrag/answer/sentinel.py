"""The word by which a language model says that its sources do not answer the question."""

from __future__ import annotations

import re

SENTINEL = "NOT_IN_DOCUMENTATION"
"""What every template asks for, as the first line; people do not get to see it."""

_MARKUP = " \t\r\n*_`\"'[]()#>"
_OPENING = re.compile(rf"[{re.escape(_MARKUP)}]*{SENTINEL}[\s*_`\"'\])>.:]*")
_CLOSING = re.compile(rf"\s*[{re.escape(_MARKUP)}]*{SENTINEL}[\s*_`\"'\])>.:]*$")
_LONGEST = 60


class OpeningReader:
    """Holds back the beginning of a text until it is known whether it is the sentinel.

    White space at the beginning is dropped.
    """

    def __init__(self) -> None:
        self.is_denial = False
        """Whether the text began with the sentinel."""
        self._held: str | None = ""

    def feed(self, piece: str) -> str:
        """Take the next piece; return what can be shown."""
        if self._held is None:
            return piece
        self._held += piece
        bare = self._held.lstrip(_MARKUP)
        if len(self._held) <= _LONGEST and (
            SENTINEL.startswith(bare) or _OPENING.fullmatch(self._held)
        ):
            return ""
        return self.finish()

    def finish(self) -> str:
        """Return what is held back, once nothing follows."""
        held, self._held = self._held or "", None
        if denial := _OPENING.match(held):
            self.is_denial = True
            return held[denial.end() :]
        return held.lstrip()


def without_sentinel(text: str) -> tuple[str, bool]:
    """Return a text without the sentinel at its end, and whether it holds one anywhere."""
    return _CLOSING.sub("", text), SENTINEL in text
