"""The text of an answer as it grows: what can be shown of it, and what it cites."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pgrag.answer.citations import Citation, CitationReader
from pgrag.answer.sentinel import OpeningReader, without_sentinel
from pgrag.answer.values import AnswerEvent
from pgrag.db import Row


class AnswerText:
    """Takes a language model's words; `source` gives the source of a number, None where none is."""

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
        """Yield what was held back, once nothing follows."""
        yield from self._show(self._opening.finish())
        yield from self._cite(self._reader.finish())

    def final(self) -> tuple[str, bool]:
        """Return the text, and whether it says that the sources have no answer."""
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
            yield AnswerEvent(
                "citation",
                {
                    "number": citation.number,
                    "start": citation.start,
                    "end": citation.end,
                    "document_id": source and source["document_id"],
                },
            )
