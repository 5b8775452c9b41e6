"""Read pages aside, in child processes, several small ones in one call."""

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from time import monotonic
from typing import Any

from pgrag.ground.errors import PgragError, SourceError
from pgrag.ingest.children import Children
from pgrag.ingest.document import PageDocument, read_each

#: Bounds of a call: files, bytes of them, and the seconds in which they come, so that progress is
#: seen. A call costs a tenth of reading a short page.
MOST_FILES = 8
ENOUGH_BYTES = 40_000
MOST_SECONDS = 0.2

_Asked = tuple[dict[str, Any], Future[PageDocument]]


class Aside:
    """Reads files by `function`, with the same `options`. Calls are collected until `send`, or
    until they are enough. A page with which a process ends is read again, alone, and so is what
    shared its call: only that page fails.
    """

    def __init__(
        self, children: Children, function: Callable[..., PageDocument], **options: Any
    ) -> None:
        self._children = children
        self._function = function
        self._options = options
        self._asked: list[_Asked] = []
        self._bytes = 0
        self._since = monotonic()

    def read(self, *, is_alone: bool, **file: Any) -> Future[PageDocument]:
        """Read a file, given by the arguments that differ from file to file, perhaps `is_alone`."""
        future: Future[PageDocument] = Future()
        if is_alone:
            self._send([(file, future)])
            return future
        self._asked.append((file, future))
        self._bytes += len(file["data"])
        is_late = monotonic() - self._since > MOST_SECONDS
        if is_late or len(self._asked) >= MOST_FILES or self._bytes >= ENOUGH_BYTES:
            self.send()
        return future

    def read_here(self, **file: Any) -> PageDocument:
        """Read a file in this process."""
        return self._function(**file, **self._options)

    def send(self) -> None:
        """Begin what has been asked for."""
        if self._asked:
            self._send(self._asked)
            self._asked, self._bytes, self._since = [], 0, monotonic()

    def _send(self, asked: Sequence[_Asked]) -> None:
        names = ", ".join(file["key"] for file, _ in asked)
        files = [file for file, _ in asked]
        call = self._children.submit(read_each, names, self._function, files, **self._options)
        call.add_done_callback(lambda call: self._answer(asked, call))

    def _answer(
        self, asked: Sequence[_Asked], call: Future[list[PageDocument | PgragError]]
    ) -> None:
        try:
            answers = _checked(call.result(), asked)
        except CancelledError:
            for _, future in asked:
                future.cancel()
        except Exception as error:
            if len(asked) > 1 and isinstance(error, SourceError):
                for each in asked:
                    self._send([each])
                return
            for _, future in asked:
                future.set_exception(error)
        else:
            for (_, future), answer in zip(asked, answers, strict=True):
                if isinstance(answer, PgragError):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)


def _checked(
    answers: list[PageDocument | PgragError], asked: Sequence[_Asked]
) -> list[PageDocument | PgragError]:
    """Return the answers, one for each file. A parser that was taken over can send others."""
    known = isinstance(answers, list) and all(
        isinstance(answer, PageDocument | PgragError) for answer in answers
    )
    if not known or len(answers) != len(asked):
        raise SourceError(
            f"{asked[0][0]['key']}: cannot be read: its parser gave an invalid answer."
        )
    return answers
