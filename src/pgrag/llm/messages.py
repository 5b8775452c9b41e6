"""What goes to a language model and what comes back; the protocol that every model speaks here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish that a tool be called. `arguments` is JSON as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    `tool_calls` are those of an assistant; `tool_call_id` says which of them a message of the role
    "tool" answers.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that were read and written; `is_estimated` where the server did not count them.

    An estimate counts 4 bytes of UTF-8 as a token, as `pgrag.context` does.
    """

    prompt_tokens: int
    completion_tokens: int
    is_estimated: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote. `finish_reason`: "stop", "length", "tool_calls" or the server's own."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    usage: Usage
    model: str


class CompletionStream(Protocol):
    """A completion while it is written: iterate for its pieces of text.

    Raises `LanguageModelError` where it breaks off, and `GenerationCancelled` after `cancel`.
    """

    def __iter__(self) -> Iterator[str]: ...

    @property
    def completion(self) -> Completion:
        """The whole of it, once the iteration has come to its end."""

    def cancel(self) -> None:
        """End it from any thread, also while another one waits for the next piece."""


class LanguageModel(Protocol):
    """A chat model. Usable by several threads at once.

    `tools` are definitions in OpenAI's format; `max_tokens` bounds what is written; a `temperature`
    of None leaves it to the server. Raises `LanguageModelError` when the model fails.
    """

    @property
    def name(self) -> str:
        """The model's name, as its server knows it."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> Completion:
        """Wait for the whole completion."""

    def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> CompletionStream:
        """Begin a completion and hand it out as it comes."""
