"""A completion put together from what a server sends: in one piece, or in many."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pgrag.llm.events import Garbled
from pgrag.llm.messages import Completion, ToolCall, Usage
from pgrag.llm.thoughts import Spoken

_WITHOUT_REASON = {"", "stop", "function_call"}


@dataclass(slots=True)
class _Call:
    """A tool call as far as it is written."""

    id: str
    name: str = ""
    arguments: str = ""


class Draft:
    """A completion as far as it is written; reasoning is left out of it."""

    def __init__(self) -> None:
        self.finish = ""
        self.size = 0
        """Bytes of text and tool calls so far."""
        self._text: list[str] = []
        self._spoken = Spoken()
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._usage: Usage | None = None
        self._model = ""

    @property
    def text(self) -> str:
        """What has been said so far."""
        return "".join(self._text)

    @property
    def is_empty(self) -> bool:
        """Whether neither text nor a tool call has come."""
        return not self._calls and not self.text.strip()

    def add(self, event: dict[str, Any]) -> str:
        """Take in an event of a stream, or a whole answer; return the text that it adds.

        Raises `Garbled` for an event that tells of an error.
        """
        error = event.get("error") or (event if event.get("object") == "error" else None)
        if error:
            message = error.get("message") if isinstance(error, dict) else error
            raise Garbled(str(message or error))
        self._usage = _usage(event.get("usage")) or self._usage
        self._model = self._model or _text(event.get("model"))
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return ""
        self.finish = _text(choice.get("finish_reason")) or self.finish
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return ""
        parts = delta.get("tool_calls")
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                self._add_call(part)
        return self._said(self._spoken.add(_text(delta.get("content"))))

    def end(self) -> str:
        """Return the text that was held back, because more might have followed."""
        return self._said(self._spoken.rest())

    def completion(self, model: str, prompt_bytes: int) -> Completion:
        """Make it final; tokens that the server did not count are estimated."""
        text = self.text
        calls = tuple(
            ToolCall(call.id or f"call_{number}", call.name, call.arguments)
            for number, call in enumerate(self._calls)
        )
        finish = self.finish or "stop"
        if calls and self.finish in _WITHOUT_REASON:
            finish = "tool_calls"
        written = text + "".join(call.name + call.arguments for call in calls)
        usage = self._usage or Usage(
            tokens_of(prompt_bytes), tokens_of(len(written.encode())), is_estimated=True
        )
        return Completion(text, calls, finish, usage, self._model or model)

    def _said(self, text: str) -> str:
        if text:
            self._text.append(text)
            self.size += len(text.encode())
        return text

    def _add_call(self, part: dict[str, Any]) -> None:
        """Add a piece of a call to the one it belongs to, as far as ids and indexes tell."""
        given = part.get("function")
        function: dict[str, Any] = given if isinstance(given, dict) else {}
        name, id_ = _text(function.get("name")), _text(part.get("id"))
        index = part.get("index")
        call = self._call_of(index, id_, name)
        if call is None:
            call = _Call(id_)
            self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        call.id = call.id or id_
        call.name = call.name or name
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        call.arguments += _text(arguments)
        self.size += len(_text(arguments))

    def _call_of(self, index: object, id_: str, name: str) -> _Call | None:
        """The call that a piece goes on with. Some servers number every call 0, or none."""
        for known in self._calls:
            if id_ and known.id == id_:
                return known
        call: _Call | None = None
        if isinstance(index, int):
            call = self._by_index.get(index)
        elif self._calls and not (id_ or name):
            call = self._calls[-1]
        if call is None or (id_ and call.id) or (name and call.name and _is_json(call.arguments)):
            return None
        return call


def tokens_of(size: int) -> int:
    """Estimate tokens from bytes of UTF-8, as `pgrag.context` does."""
    return -(-size // 4)


def _usage(given: Any) -> Usage | None:
    if not isinstance(given, dict):
        return None
    read, written = given.get("prompt_tokens"), given.get("completion_tokens")
    if type(read) is not int or type(written) is not int:
        return None
    # More cannot be kept, and is no number of tokens.
    if not (0 <= read < 2**31 and 0 <= written < 2**31):
        return None
    return Usage(read, written)


def _text(value: Any) -> str:
    """Read a text, or the texts in a list of parts."""
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    if not isinstance(value, str):
        return ""
    text = value.replace("\0", "\N{REPLACEMENT CHARACTER}")  # no database takes it
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates, which nothing else could write
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
