"""The text of an answer as it grows: the part that can be shown, and its citations."""

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from pgrag.answer.citations import Citation, CitationReader
from pgrag.ground.calls import Row

SENTINEL = "NOT_IN_DOCUMENTATION"
"""Every template requests it as the first line; users never see it."""

_MARKUP = " \t\r\n*_`\"'[]()#>"
_OPENING = re.compile(rf"[{re.escape(_MARKUP)}]*{SENTINEL}[\s*_`\"'\])>.:]*")
_CLOSING = re.compile(rf"\s*[{re.escape(_MARKUP)}]*{SENTINEL}[\s*_`\"'\])>.:]*$")
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """A step of an answer: intent, sources, step, token, citation, done; `data` is plain JSON."""

    name: str
    data: dict[str, Any]


class OpeningReader:
    """Holds back the beginning of a text until it is clear whether it is the sentinel."""

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
        """Return the text still held back, at the end of the stream."""
        held, self._held = self._held or "", None
        if denial := _OPENING.match(held):
            self.is_denial = True
            return held[denial.end() :]
        return held.lstrip()


def without_sentinel(text: str) -> tuple[str, bool]:
    """Return a text without the sentinel at its end, and whether the sentinel occurs anywhere."""
    return _CLOSING.sub("", text), SENTINEL in text


class AnswerText:
    """Collects a language model's text; `source` returns the source of a number, or None."""

    def __init__(self, source: Callable[[int], Row | None]) -> None:
        self.shown = ""
        self.citations: list[Citation] = []
        self._source = source
        self._opening = OpeningReader()
        self._reader = CitationReader()

    def feed(self, piece: str) -> Iterator[AnswerEvent]:
        """Take the next piece; yield events `token` and `citation`."""
        yield from self._show(self._opening.feed(piece))

    def finish(self) -> Iterator[AnswerEvent]:
        """Yield the text still held back, at the end of the stream."""
        yield from self._show(self._opening.finish())
        yield from self._cite(self._reader.finish())

    def final(self) -> tuple[str, bool]:
        """Return the text, and whether it says that the sources do not answer the question."""
        text, has_sentinel = without_sentinel(self.shown.rstrip())
        cites_nothing = not any(self._source(citation.number) for citation in self.citations)
        return text, self._opening.is_denial or (has_sentinel and cites_nothing)

    def _show(self, piece: str) -> Iterator[AnswerEvent]:
        if piece:
            self.shown += piece
            yield AnswerEvent("token", {"text": piece})
            yield from self._cite(self._reader.feed(piece))

    def _cite(self, citations: list[Citation]) -> Iterator[AnswerEvent]:
        for citation in citations:
            self.citations.append(citation)
            source = self._source(citation.number)
            cited = {"document_id": source and source["document_id"]}
            yield AnswerEvent("citation", asdict(citation) | cited)
