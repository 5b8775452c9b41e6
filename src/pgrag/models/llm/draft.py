"""A completion assembled from a server's response: one message, or many events."""

import json
from dataclasses import dataclass
from typing import Any

from pgrag.ground.values.answers import Usage
from pgrag.models.llm.protocol import Completion, Garbled, ToolCall

_WITHOUT_REASON = {"", "stop", "function_call"}
_OPEN, _CLOSE = "<think>", "</think>"


class Spoken:
    """Passes streamed text through, except `<think>…</think>` at its very start. Servers that know
    a model's reasoning format send it separately; others leave it in the text.
    """

    def __init__(self) -> None:
        self._held = ""
        self._is_decided = False

    def add(self, piece: str) -> str:
        """Take a piece; return the text that can be shown now."""
        if self._is_decided:
            return piece
        self._held += piece
        start = self._held.lstrip()
        if start.startswith(_OPEN):
            _, closed, spoken = start.partition(_CLOSE)
            if not closed or not spoken.strip():
                return ""
            return self._decide(spoken.lstrip())
        if _OPEN.startswith(start):  # also when nothing has arrived yet
            return ""
        return self._decide(self._held)

    def rest(self) -> str:
        """Return the text held back, at the end; an unclosed `<think>` stays hidden."""
        return "" if self._held.lstrip().startswith(_OPEN) else self._decide(self._held)

    def _decide(self, text: str) -> str:
        self._is_decided, self._held = True, ""
        return text


@dataclass(slots=True)
class _Call:
    id: str
    name: str = ""
    arguments: str = ""


class Draft:
    """A completion, as far as it has arrived; without its reasoning."""

    def __init__(self) -> None:
        self.finish = ""
        self.size = 0  # in bytes, of text and tool calls
        self._text: list[str] = []
        self._spoken = Spoken()
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._usage: Usage | None = None
        self._model = ""

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._text)

    @property
    def is_empty(self) -> bool:
        """Whether neither text nor a tool call has arrived."""
        return not self._calls and not self.text.strip()

    def add(self, event: dict[str, Any]) -> str:
        """Add an event of a stream, or a whole response; return the text that it adds. Raises
        `Garbled` for an event that reports an error.
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
        """Return the text held back in case more followed."""
        return self._said(self._spoken.rest())

    def completion(self, model: str, prompt_bytes: int) -> Completion:
        """Return the final completion; tokens that the server did not count are estimated."""
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
            prompt_tokens=tokens_of(prompt_bytes),
            completion_tokens=tokens_of(len(written.encode())),
            is_estimated=True,
        )
        return Completion(text, calls, finish, usage, self._model or model)

    def _said(self, text: str) -> str:
        if text:
            self._text.append(text)
            self.size += len(text.encode())
        return text

    def _add_call(self, part: dict[str, Any]) -> None:
        """Append a piece to its tool call, identified by id and index as far as they are given."""
        described = part.get("function")
        function: dict[str, Any] = described if isinstance(described, dict) else {}
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
        """Return the call that a piece continues: some servers number all calls 0, others none."""
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


def _usage(counts: Any) -> Usage | None:
    if not isinstance(counts, dict):
        return None
    read, written = counts.get("prompt_tokens"), counts.get("completion_tokens")
    if type(read) is not int or type(written) is not int:
        return None
    # PostgreSQL could not store more, and no completion has that many tokens.
    if not (0 <= read < 2**31 and 0 <= written < 2**31):
        return None
    return Usage(prompt_tokens=read, completion_tokens=written)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    if not isinstance(value, str):
        return ""
    text = value.replace("\0", "\N{REPLACEMENT CHARACTER}")  # PostgreSQL cannot store NUL
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which UTF-8 cannot encode
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
