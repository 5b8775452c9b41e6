"""Requests to a language model, so many at a time, that all end when they shall."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Lock
from types import TracebackType
from typing import Any, Self

from pgrag.enrichment.kinds import Kind
from pgrag.errors import GenerationCancelled, LanguageModelError
from pgrag.llm import CompletionStream, LanguageModel, Usage

#: Requests that wait for each one that runs: what keeps all threads busy while answers are stored.
_QUEUED = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a request: a text, or the reason why there is none."""

    row: dict[str, Any]
    text: str
    reason: str = ""
    usage: Usage | None = None


class Calls:
    """Asks for rows of `pgrag.pending_enrichments`, `concurrency` at a time. A context manager.

    When its block ends, by whatever, requests that still run are cancelled and have ended.
    """

    def __init__(
        self, model: LanguageModel, kind: Kind, *, concurrency: int, max_tokens: int
    ) -> None:
        self._model = model
        self._kind = kind
        self._max_tokens = max_tokens
        self._room = concurrency * (1 + _QUEUED)
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="pgrag-enrich")
        self._pending: set[Future[Answer]] = set()
        self._streams: set[CompletionStream] = set()
        self._lock = Lock()
        self._is_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.cancel()

    def ask(self, row: dict[str, Any]) -> None:
        """Let a row be asked when its turn comes."""
        self._pending.add(self._threads.submit(self._answer, row))

    @property
    def is_full(self) -> bool:
        """Whether so many wait that nobody is idle for lack of more."""
        return len(self._pending) >= self._room

    @property
    def is_idle(self) -> bool:
        """Whether nothing is asked."""
        return not self._pending

    def answers(self, timeout: float) -> Iterator[Answer]:
        """Yield what has been answered, after `timeout` seconds at the latest."""
        done, self._pending = wait(self._pending, timeout, FIRST_COMPLETED)
        yield from (future.result() for future in done)

    def cancel(self) -> list[Answer]:
        """End all requests; return what was answered and nobody has taken yet."""
        with self._lock:
            self._is_over = True
            streams = list(self._streams)
        for stream in streams:
            stream.cancel()
        self._threads.shutdown(wait=True, cancel_futures=True)
        done = [future.result() for future in self._pending if not future.cancelled()]
        self._pending = set()
        return [answer for answer in done if answer.text]

    def _answer(self, row: dict[str, Any]) -> Answer:
        """Ask; in a thread of its own."""
        try:
            with self._lock:
                if self._is_over:
                    raise GenerationCancelled("The run is over.")
                stream = self._model.stream(
                    self._kind.messages(row), max_tokens=self._max_tokens, temperature=0.0
                )
                self._streams.add(stream)
            try:
                for _ in stream:
                    pass
            finally:
                with self._lock:
                    self._streams.discard(stream)
            completion = stream.completion
        except LanguageModelError as error:
            return Answer(row, "", str(error))
        text = self._kind.usable(completion)
        reason = "" if text else f"{self._model.name} wrote nothing that can be used."
        return Answer(row, text, reason, completion.usage)
