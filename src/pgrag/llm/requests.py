"""Requests for a completion, in the words that a server takes."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from typing import Any

from pgrag.llm.messages import Message

log = logging.getLogger(__name__)

_REFUSALS = {
    "stream_options": re.compile(r"stream.?option|include_usage", re.I),
    "max_tokens": re.compile(r"(?=.*max_completion_tokens)(?=.*support)", re.I | re.S),
    "temperature": re.compile(r"temperature", re.I),
}
"""Fields that not every server or model takes, and how it says so."""


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
    """Return the same request for a stream, which shall count its tokens."""
    return {**request, "stream": True, "stream_options": {"include_usage": True}}


def size_of(request: dict[str, Any]) -> int:
    """Return the bytes of what a model reads of a request."""
    size = sum(
        len((message["content"] or "").encode())
        + sum(len(call["function"]["arguments"].encode()) for call in message.get("tool_calls", ()))
        for message in request["messages"]
    )
    tools = request.get("tools")
    return size + (len(json.dumps(tools).encode()) if tools else 0)


class Dialect:
    """What a server does not take of the protocol, learnt from its refusals."""

    def __init__(self) -> None:
        self._refused: frozenset[str] = frozenset()

    def adapted(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return a request without what the server is known to refuse."""
        adapted = dict(request)
        for field in self._refused & request.keys():
            value = adapted.pop(field)
            if field == "max_tokens":
                adapted["max_completion_tokens"] = value
        return adapted

    def learn(self, request: dict[str, Any], refusal: str) -> dict[str, Any] | None:
        """Return a request that may be taken where this one was refused; None if there is none."""
        for field, words in _REFUSALS.items():
            if field in request and words.search(refusal):
                log.info("the language model's server does not take %s", field)
                self._refused |= {field}
                return self.adapted(request)
        if "stream_options" in request:  # the newest of the fields: some refuse it without a name
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
