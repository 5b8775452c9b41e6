"""Values that hold within a block, for its tasks and its threads."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def holding(variable: ContextVar[T], value: T) -> Iterator[T]:
    """Give a context variable this value within the block."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)
