"""Agentic answers: a language model retrieves its own sources with tools, within bounds."""

import json
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from time import perf_counter
from typing import Any

from pgrag.answer.text import SENTINEL, AnswerEvent
from pgrag.answer.tools import Call, Toolbox, Used
from pgrag.ground.errors import InvalidInput, LanguageModelError
from pgrag.ground.notices import collected_notices
from pgrag.models.endpoint import Cancellation
from pgrag.models.llm import ChatModel, Completion, Message, Usage
from pgrag.models.llm.draft import tokens_of
from pgrag.search.search import Search

CALLS_OF_A_STEP = 5
IDLE_STEPS = 2
"""Limits: calls in one step, steps in a row without a new source."""

RESULT_TOKENS = 2000
_SMALLEST_RESULT = 300
"""Tokens of a tool's result: the maximum, and the minimum for a step with tools."""

_LOOK_FIRST = "You have not searched the documentation yet. Use the tools, then answer."
_ANSWER_NOW = f"No more tools are available. Answer now, citing the sources above; or {SENTINEL}."


@dataclass(slots=True)
class Agent:
    """Lets a model search until it answers: at most `max_steps` calls with tools, then one without,
    all within `max_tokens`. After two steps that found no new source, or near a bound, it must
    answer.
    `notices` are about the version; `tools.sources` are like those of `pgrag.answer_context`.
    `trace` has an object per step: `step` (from 1), `calls`, `text`, tokens, `ms`, and `forced`:
    why the tools were withdrawn, else null. `answer` is None until the model has answered. Raises
    `InvalidInput`, `NotFound` for the library, and database errors.
    """

    model: ChatModel
    search: Search
    call: Call
    question: str
    _: KW_ONLY
    library: str | None = None
    version: str | None = None
    filters: dict[str, Any] | None = None
    template: str = "agent"
    max_steps: int = 6
    max_tokens: int = 30_000
    answer_tokens: int = 1024
    temperature: float | None = None
    cancellation: Cancellation = field(default_factory=Cancellation)
    tools: Toolbox = field(init=False)
    notices: list[str] = field(init=False)
    trace: list[dict[str, Any]] = field(init=False, default_factory=list)
    usage: Usage = field(init=False, default_factory=Usage)
    answer: Completion | None = field(init=False, default=None)
    _idle: int = field(init=False, default=0)
    _was_told_to_look: bool = field(init=False, default=False)
    _messages: list[Message] = field(init=False)
    _last: Message = field(init=False)

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise InvalidInput("The question is empty.")
        if not 1 <= self.max_steps <= 50:
            raise InvalidInput(f"max_steps must be 1 to 50, not {self.max_steps}.")
        if self.answer_tokens < 1:
            raise InvalidInput(f"answer_tokens must be at least 1, not {self.answer_tokens}.")
        with collected_notices() as self.notices:
            self.tools = Toolbox(
                self.search, self.call, library=self.library, version=self.version,
                question=self.question, filters=self.filters,
            )  # fmt: skip
        system, self._last = self._without_tools()
        self._messages = [system, Message("user", f"{self.question}{self._notes}")]
        needed = self._needed_for_a_step()
        if self.max_tokens < needed:
            raise InvalidInput(
                f"max_tokens must be at least {needed}, not {self.max_tokens}.",
                hint="One search and an answer of the requested length need this many.",
            )

    def events(self) -> Iterator[AnswerEvent]:
        """Yield `sources` (new ones only), `step` (as in the trace) and `token` (of the answer).
        Raises `LanguageModelError`, `GenerationCancelled` and database errors.
        """
        while self.answer is None:
            yield from self._step()

    def _step(self) -> Iterator[AnswerEvent]:
        forced = self._reason_to_answer()
        started = perf_counter()
        stream = self.model.stream(
            self._without_tools() if forced else self._messages,
            tools=[] if forced else self.tools.definitions,
            max_tokens=self.answer_tokens,
            temperature=self.temperature,
            cancellation=self.cancellation,
        )
        pieces = []
        for piece in stream:
            if forced:
                yield AnswerEvent("token", {"text": piece})
            else:
                pieces.append(piece)
        completion = stream.completion
        if forced and not completion.text.strip():
            raise LanguageModelError(
                f"{self.model.name} keeps calling tools instead of answering.",
                hint="Allow it more steps or tokens, or try another model.",
            )
        self.usage += completion.usage
        known = len(self.tools.sources)
        calls = [] if forced else self._use_tools(completion)
        sources = self.tools.sources[known:]
        if sources:
            self._idle = 0
        # A model that was told what is wrong with its call may do better in the next step.
        elif calls and all(call["outcome"] != "unusable" for call in calls):
            self._idle += 1
        is_last = not calls and not self._must_look_first(completion, forced)
        step = {
            "step": len(self.trace) + 1, "calls": calls, "text": completion.text if calls else "",
            "forced": forced, "prompt_tokens": completion.usage.prompt_tokens,
            "completion_tokens": completion.usage.completion_tokens,
            "ms": round(1000 * (perf_counter() - started), 1),
        }  # fmt: skip
        self.trace.append(step)
        if sources:
            yield AnswerEvent("sources", {"sources": sources})
        if is_last:
            for piece in pieces:
                yield AnswerEvent("token", {"text": piece})
            self.answer = completion
        yield AnswerEvent("step", step)

    def _reason_to_answer(self) -> str | None:
        """Return why the model gets no tools: "steps", "tokens" or "nothing new"; else None."""
        if len(self.trace) >= self.max_steps:
            return "steps"
        if self._spent + self._needed_for_a_step() > self.max_tokens:
            return "tokens"
        return "nothing new" if self._idle >= IDLE_STEPS else None

    def _use_tools(self, completion: Completion) -> list[dict[str, Any]]:
        if not completion.tool_calls:
            return []
        self._messages.append(Message("assistant", completion.text, completion.tool_calls))
        traced = []
        for number, call in enumerate(completion.tool_calls):
            started = perf_counter()
            if number < CALLS_OF_A_STEP:
                used = self.tools.use(call.name, call.arguments, self._room())
            else:
                used = Used("unusable", f"A step may make at most {CALLS_OF_A_STEP} calls.")
            self._messages.append(Message("tool", used.text, tool_call_id=call.id))
            trace = {
                "tool": call.name, "arguments": _shown(call.arguments), "outcome": used.outcome,
                "sources": used.numbers, "tokens": _size(used.text),
                "search_id": used.search_id and str(used.search_id),
                "ms": round(1000 * (perf_counter() - started), 1),
            }  # fmt: skip
            traced.append(trace)
        return traced

    def _must_look_first(self, completion: Completion, forced: str | None) -> bool:
        """Whether the model answered without any search; it is told to search, once."""
        if forced or self._was_told_to_look or any(step["calls"] for step in self.trace):
            return False
        self._was_told_to_look = True
        self._messages += [Message("assistant", completion.text), Message("user", _LOOK_FIRST)]
        return True

    def _without_tools(self) -> list[Message]:
        """Put all sources in one question: not every server takes past calls without tools."""
        asked = {"question": self.question, "template": self.template}
        [row] = self.call("answer_messages", **asked, sources=self.tools.sources or None)
        system, question = (Message(**message) for message in row["answer_messages"])
        content = f"{question.content}{self._notes}\n\n{_ANSWER_NOW}"
        return [system, replace(question, content=content)]

    @property
    def _notes(self) -> str:
        return "".join(f"\nNote: {notice}" for notice in self.notices)

    @property
    def _spent(self) -> int:
        return self.usage.prompt_tokens + self.usage.completion_tokens

    def _conversation(self) -> int:
        words = [json.dumps(self.tools.definitions), self._last.content]
        for message in self._messages:
            words.append(message.content)
            words += [call.name + call.arguments for call in message.tool_calls]
        return sum(map(_size, words))

    def _needed_for_a_step(self) -> int:
        """Tokens of a step with one tool call and of the answer after it."""
        step = self._conversation() + self.answer_tokens
        return step + step + _SMALLEST_RESULT + self.answer_tokens

    def _room(self) -> int:
        """Tokens that a result may have so that the answer still fits the bound."""
        left = self.max_tokens - self._spent - self._conversation() - self.answer_tokens
        return max(0, min(RESULT_TOKENS, left))


def _size(text: str) -> int:
    return tokens_of(len(text.encode("utf-8", "replace")))


def _shown(arguments: str) -> Any:
    """Arguments as JSON if PostgreSQL can store them, else as the model wrote them."""
    try:
        shown = json.loads(arguments)
        plain = json.dumps(shown, ensure_ascii=False, allow_nan=False)
        plain.encode()  # fails for a lone surrogate
    except (ValueError, RecursionError):
        return arguments[:1000]
    return arguments[:1000] if "\\u0000" in plain else shown
