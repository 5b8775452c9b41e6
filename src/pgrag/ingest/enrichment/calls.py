"""Concurrent requests to a language model that can be cancelled together."""

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Self

from pgrag.ground.errors import LanguageModelError
from pgrag.ingest.enrichment.kinds import Kind
from pgrag.models.endpoint import Cancellation
from pgrag.models.llm import ChatModel, Usage

#: Queued requests per running one: keeps all threads busy while answers are stored.
_QUEUED = 4


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The result of a request: a text, or the reason why there is none."""

    row: dict[str, Any]
    text: str
    reason: str = ""
    usage: Usage | None = None


class ModelCalls:
    """Sends requests for rows of `pgrag.pending_enrichments`; running ones are cancelled at the end
    of its block.
    """

    def __init__(
        self, model: ChatModel, kind: Kind, limit: int, *, concurrency: int, max_tokens: int
    ) -> None:
        self._model = model
        self._kind = kind
        self._limit = limit
        self._max_tokens = max_tokens
        self._room = concurrency * (1 + _QUEUED)
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="pgrag-enrich")
        self._pending: set[Future[ModelAnswer]] = set()
        self._cancellation = Cancellation()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()

    def ask(self, row: dict[str, Any]) -> None:
        """Queue a request for a row."""
        self._pending.add(self._threads.submit(self._answer, row))

    @property
    def is_full(self) -> bool:
        """Whether the queue is long enough to keep every thread busy."""
        return len(self._pending) >= self._room

    @property
    def is_idle(self) -> bool:
        """Whether no request is queued or running."""
        return not self._pending

    def answers(self, timeout: float) -> Iterator[ModelAnswer]:
        """Yield finished answers, after at most `timeout` seconds."""
        done, self._pending = wait(self._pending, timeout, FIRST_COMPLETED)
        yield from (future.result() for future in done)

    def cancel(self) -> list[ModelAnswer]:
        """Cancel all requests; return finished answers that were not taken yet."""
        self._cancellation.cancel()
        self._threads.shutdown(wait=True, cancel_futures=True)
        done = [future.result() for future in self._pending if not future.cancelled()]
        self._pending = set()
        return [answer for answer in done if answer.text]

    def _answer(self, row: dict[str, Any]) -> ModelAnswer:
        try:
            stream = self._model.stream(
                self._kind.messages(row, self._limit),
                max_tokens=self._max_tokens,
                temperature=0.0,
                cancellation=self._cancellation,
            )
            for _ in stream:
                pass
        except LanguageModelError as error:
            return ModelAnswer(row, "", str(error))
        text = self._kind.usable(stream.completion, self._limit)
        reason = "" if text else f"{self._model.name} wrote nothing usable."
        return ModelAnswer(row, text, reason, stream.completion.usage)
