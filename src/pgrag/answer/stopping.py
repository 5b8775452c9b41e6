"""Ending an answer from another thread than the one that makes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from pgrag.errors import GenerationCancelled
from pgrag.llm import CompletionStream


class StopSwitch:
    """A wish, once and for all, that no more is done; ends what a language model is writing."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_stopped = False
        self._writing: CompletionStream | None = None

    def stop(self) -> None:
        """Wish it; usable from any thread, more than once."""
        with self._lock:
            self._is_stopped = True
            writing = self._writing
        if writing is not None:
            writing.cancel()

    def is_stopped(self) -> bool:
        """Whether somebody has wished it."""
        return self._is_stopped

    def check(self) -> None:
        """Raise `GenerationCancelled` if so."""
        if self._is_stopped:
            raise GenerationCancelled("The answer was cancelled.")

    def watch(self, writing: CompletionStream) -> None:
        """Have the wish end this completion, from now on instead of the one before."""
        with self._lock:
            self._writing = writing
            is_stopped = self._is_stopped
        if is_stopped:
            writing.cancel()

    @contextmanager
    def over(self, writing: CompletionStream) -> Iterator[CompletionStream]:
        """Hold over a completion: it is ended by the wish, and whenever it is left half read."""
        self.watch(writing)
        try:
            self.check()
            yield writing
        except BaseException:
            writing.cancel()
            raise
        finally:
            with self._lock:
                self._writing = None
