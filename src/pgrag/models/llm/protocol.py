"""OpenAI's chat completions: messages, requests with fields that the server accepts, and events."""

import json
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pgrag.ground.values.answers import Usage

log = logging.getLogger(__name__)

#: Fields that some servers or models refuse, and the wording of the refusal.
_REFUSALS = {
    "stream_options": re.compile(r"stream.?option|include_usage", re.I),
    "max_tokens": re.compile(r"(?=.*max_completion_tokens)(?=.*support)", re.I | re.S),
    "temperature": re.compile(r"temperature", re.I),
}
_END = "[DONE]"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that a model requests. `arguments` is JSON as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. `tool_calls` belong to an assistant's message; `tool_call_id`
    names the call that a message of the role "tool" answers.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's output. `finish_reason`: "stop", "length", "tool_calls" or the server's own."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    usage: Usage
    model: str


def request_for(
    model: str,
    messages: Sequence[Message],
    tools: Sequence[dict[str, Any]],
    max_tokens: int | None,
    temperature: float | None,
) -> dict[str, Any]:
    """Return the JSON of a request for a completion in one piece."""
    request: dict[str, Any] = {"model": model, "messages": [_plain(item) for item in messages]}
    if tools:
        request["tools"] = list(tools)
    if max_tokens is not None:
        request["max_tokens"] = max_tokens
    if temperature is not None:
        request["temperature"] = temperature
    return request


def streamed(request: dict[str, Any]) -> dict[str, Any]:
    """Return the same request for a stream that reports its token counts."""
    return {**request, "stream": True, "stream_options": {"include_usage": True}}


def size_of(request: dict[str, Any]) -> int:
    """Return the bytes of a request that a model reads."""
    size = sum(
        len((message["content"] or "").encode())
        + sum(len(call["function"]["arguments"].encode()) for call in message.get("tool_calls", ()))
        for message in request["messages"]
    )
    tools = request.get("tools")
    return size + (len(json.dumps(tools).encode()) if tools else 0)


class Dialect:
    """The fields that a server does not accept, learnt from its refusals."""

    def __init__(self) -> None:
        self._refused: frozenset[str] = frozenset()

    def adapted(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return a request without the fields that the server refuses."""
        adapted = dict(request)
        for field in self._refused & request.keys():
            value = adapted.pop(field)
            if field == "max_tokens":
                adapted["max_completion_tokens"] = value
        return adapted

    def learn(self, request: dict[str, Any], refusal: str) -> dict[str, Any] | None:
        """Return a request that the server may accept after this refusal, or None."""
        for field, words in _REFUSALS.items():
            if field in request and words.search(refusal):
                log.info("the language model's server does not take %s", field)
                self._refused |= {field}
                return self.adapted(request)
        if "stream_options" in request:  # the newest field: some refuse it without naming it
            return {name: value for name, value in request.items() if name != "stream_options"}
        return None


def _plain(message: Message) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        plain["content"] = message.content or None
        plain["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        plain["tool_call_id"] = message.tool_call_id
    return plain


class Garbled(Exception):
    """A server did not speak the protocol; the message quotes what it sent."""


def events(lines: Iterable[str]) -> Iterator[dict[str, Any] | None]:
    """Decode server-sent events that hold JSON, also without `data:`; None is OpenAI's end marker.
    Raises `Garbled`.
    """
    pending, strange = "", ""
    for line in lines:
        field, _, value = line.partition(":")
        if pending:
            pending += value if field == "data" else line
        elif field == "data":
            pending = value.strip()
        elif line.lstrip().startswith("{"):
            pending = line
        elif field not in {"", "event", "id", "retry"}:
            strange = strange or line
        if pending == _END:
            yield None
            return
        try:
            event = json.loads(pending) if pending else None
        except RecursionError:
            raise Garbled(pending[:200]) from None
        except ValueError:
            continue  # the JSON may continue on the next lines
        pending = ""
        if isinstance(event, dict):
            yield event
    if pending or strange:
        raise Garbled(pending or strange)
