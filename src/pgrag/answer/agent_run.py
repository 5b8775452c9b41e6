"""The conversation of one agentic answer: what is said, what it has taken, and its bounds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any, TypeAlias
from uuid import UUID

from pgrag.answer.sentinel import SENTINEL
from pgrag.answer.tools import Call, Toolbox, Used
from pgrag.errors import InvalidInput, LanguageModelError
from pgrag.llm import Completion, CompletionStream, LanguageModel, Message, Usage
from pgrag.llm.draft import tokens_of

RESULT_TOKENS = 2000
CALLS_OF_A_STEP = 5
IDLE_STEPS = 2
"""At most: tokens of a tool's result, calls in one step, steps in a row that found nothing new."""

_SMALLEST_RESULT = 300

_LOOK_FIRST = (
    "You have not looked into the documentation yet. Search it with the tools, then answer."
)
_ANSWER_NOW = (
    f"There are no more tools. Answer now, from the sources above, and cite them; or {SENTINEL}."
)

#: Told of an event by its name and data: "sources", "step", "token".
Tell: TypeAlias = Callable[[str, dict[str, Any]], object]


class Run:
    """The conversation so far, and what it has taken; `template` says how it begins and ends."""

    def __init__(
        self,
        model: LanguageModel,
        tools: Toolbox,
        call: Call,
        question: str,
        *,
        template: str,
        max_tokens: int,
        answer_tokens: int,
        temperature: float | None = None,
    ) -> None:
        self._model = model
        self._tools = tools
        self._call = call
        self._question = question
        self._template = template
        self._max_tokens = max_tokens
        self._answer_tokens = answer_tokens
        self._temperature = temperature
        system, self._last = self._without_tools()
        self._messages = [system, Message("user", question)]
        self.trace: list[dict[str, Any]] = []
        self.search_ids: list[UUID] = []
        self._read = self._written = 0
        self._is_estimated = False
        self._idle = 0
        self._was_told_to_look = False

    def require_tokens(self) -> None:
        """Raise `InvalidInput` where not even one step with a tool fits."""
        if self._answer_tokens < 1:
            raise InvalidInput(f"answer_tokens must be at least 1, not {self._answer_tokens}.")
        needed = self._needed_for_a_step()
        if self._max_tokens < needed:
            raise InvalidInput(
                f"max_tokens must be at least {needed}, not {self._max_tokens}.",
                hint="One search and one answer of the length that is asked for need so many.",
            )

    def reason_to_answer(self, max_steps: int) -> str | None:
        """Say why the model gets no tools now: "steps", "tokens" or "nothing new"; else None."""
        if len(self.trace) >= max_steps:
            return "steps"
        if self._spent + self._needed_for_a_step() > self._max_tokens:
            return "tokens"
        return "nothing new" if self._idle >= IDLE_STEPS else None

    def ask(
        self, forced: str | None, on_stream: Callable[[CompletionStream], object], tell: Tell
    ) -> tuple[Completion, list[str]]:
        """Ask the model once; without tools its text is told as it comes, with them returned."""
        stream = self._model.stream(
            self._without_tools() if forced else self._messages,
            tools=[] if forced else self._tools.definitions,
            max_tokens=self._answer_tokens,
            temperature=self._temperature,
        )
        on_stream(stream)
        pieces = []
        for piece in stream:
            if forced:
                tell("token", {"text": piece})
            else:
                pieces.append(piece)
        completion = stream.completion
        if forced and not completion.text.strip():
            raise LanguageModelError(
                f"{self._model.name} goes on calling tools instead of answering.",
                hint="Allow it more steps or tokens, or try another model.",
            )
        self._read += completion.usage.prompt_tokens
        self._written += completion.usage.completion_tokens
        self._is_estimated |= completion.usage.is_estimated
        return completion, pieces

    def use_tools(self, completion: Completion, tell: Tell) -> list[dict[str, Any]]:
        """Run what the model calls and add the results to the conversation; return their trace."""
        if not completion.tool_calls:
            return []
        known = len(self._tools.sources)
        self._messages.append(Message("assistant", completion.text, completion.tool_calls))
        traced = []
        for place, wanted in enumerate(completion.tool_calls):
            started = perf_counter()
            if place < CALLS_OF_A_STEP:
                used = self._tools.use(wanted.name, wanted.arguments, self._room())
            else:
                used = Used("unusable", f"At most {CALLS_OF_A_STEP} calls at once are made.")
            self._messages.append(Message("tool", used.text, tool_call_id=wanted.id))
            if used.search_id is not None:
                self.search_ids.append(used.search_id)
            traced.append(
                {
                    "tool": wanted.name,
                    "arguments": _shown(wanted.arguments),
                    "outcome": used.outcome,
                    "sources": used.numbers,
                    "tokens": _size(used.text),
                    "search_id": used.search_id,
                    "ms": round(1000 * (perf_counter() - started), 1),
                }
            )
        found = self._tools.sources[known:]
        if found:
            tell("sources", {"sources": found})
        self._idle = 0 if found else self._idle + 1
        return traced

    def must_look_first(self, completion: Completion, forced: str | None) -> bool:
        """Whether an answer comes out of nothing; the model is told once to look."""
        if forced or self._tools.sources or self._was_told_to_look or self.search_ids:
            return False
        if any(step["calls"] for step in self.trace):
            return False
        self._was_told_to_look = True
        self._messages.append(Message("assistant", completion.text))
        self._messages.append(Message("user", _LOOK_FIRST))
        return True

    def traced(
        self, completion: Completion, calls: list[dict[str, Any]], forced: str | None, ms: float
    ) -> dict[str, Any]:
        """Note a step."""
        step = {
            "step": len(self.trace) + 1,
            "calls": calls,
            "text": completion.text if calls else "",
            "forced": forced,
            "prompt_tokens": completion.usage.prompt_tokens,
            "completion_tokens": completion.usage.completion_tokens,
            "ms": round(ms, 1),
        }
        self.trace.append(step)
        return step

    @property
    def usage(self) -> Usage:
        """Tokens of all completions together."""
        return Usage(self._read, self._written, self._is_estimated)

    def _without_tools(self) -> list[Message]:
        """All that was found as one question: not every server takes calls where no tools are."""
        [row] = self._call(
            "answer_messages",
            question=self._question,
            sources=self._tools.sources or None,
            template=self._template,
        )
        system, asked = (Message(**message) for message in row["answer_messages"])
        return [system, replace(asked, content=f"{asked.content}\n\n{_ANSWER_NOW}")]

    @property
    def _spent(self) -> int:
        return self._read + self._written

    def _conversation(self) -> int:
        """Tokens of all that the model reads when it is asked now, with tools or without."""
        words = [json.dumps(self._tools.definitions), self._last.content]
        for message in self._messages:
            words.append(message.content)
            words += [call.name + call.arguments for call in message.tool_calls]
        return sum(map(_size, words))

    def _needed_for_a_step(self) -> int:
        """Tokens of a step with a tool and the answer after it."""
        step = self._conversation() + self._answer_tokens
        return step + step + _SMALLEST_RESULT + self._answer_tokens

    def _room(self) -> int:
        """Tokens that a result may have, so that the answer after it stays within the bound."""
        left = self._max_tokens - self._spent - self._conversation() - self._answer_tokens
        return max(0, min(RESULT_TOKENS, left))


def _size(text: str) -> int:
    return tokens_of(len(text.encode("utf-8", "replace")))


def _shown(arguments: str) -> Any:
    """Arguments as JSON where a trace can hold it as such, else as they were written."""
    try:
        shown = json.loads(arguments)
        plain = json.dumps(shown, ensure_ascii=False, allow_nan=False)
        plain.encode()  # fails for half of a pair of surrogates
    except (ValueError, RecursionError):
        return arguments[:1000]
    return arguments[:1000] if "\\u0000" in plain else shown
