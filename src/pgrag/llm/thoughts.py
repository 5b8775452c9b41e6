"""What a model says, without what it thinks aloud before it."""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


class Spoken:
    """Lets a text through that comes in pieces, but for `<think>…</think>` at its very start.

    Servers that know a model's way to reason send that apart; others leave it in the text.
    """

    def __init__(self) -> None:
        self._held = ""
        self._is_decided = False

    def add(self, piece: str) -> str:
        """Take a piece; return what may be shown now."""
        if self._is_decided:
            return piece
        self._held += piece
        start = self._held.lstrip()
        if start.startswith(_OPEN):
            _, closed, spoken = start.partition(_CLOSE)
            if not closed or not spoken.strip():
                return ""
            return self._decide(spoken.lstrip())
        if _OPEN.startswith(start):  # also where nothing has come yet
            return ""
        return self._decide(self._held)

    def rest(self) -> str:
        """Return what is held back, at the end; a thought that never ended is not shown."""
        held, start = self._held, self._held.lstrip()
        return "" if start.startswith(_OPEN) else self._decide(held)

    def _decide(self, text: str) -> str:
        self._is_decided, self._held = True, ""
        return text
