"""Answers to questions: what SQL finds, a language model puts into words, and rules check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgrag.answer.stream import AnswerStream
from pgrag.answer.values import Answer, Mode
from pgrag.db import Database
from pgrag.errors import InvalidInput
from pgrag.llm import LanguageModel
from pgrag.results import Results

SHARED = frozenset({"library", "version", "filters", "template"})
AGENTIC = SHARED | {"max_steps", "max_tokens"}
"""Arguments of both modes, and of the agentic one."""


class Answerer:
    """Answers questions; usable by several threads at once.

    `client` is under what name answers are recorded; None: they are not. `max_tokens` bounds each
    answer; a `temperature` of None is the server's. `ask_intent`: whether the model names the
    intent of a question where no rule does, unless an answer's own `ask_intent` says otherwise.
    """

    def __init__(
        self,
        results: Results,
        model: LanguageModel,
        database: Database,
        *,
        client: str | None = None,
        max_tokens: int = 1024,
        temperature: float | None = None,
        ask_intent: bool = False,
    ) -> None:
        self.results = results
        self.database = database
        self.model = model
        self.client = client
        self.max_tokens = max_tokens
        self.temperature = temperature
        self._ask_intent = ask_intent

    def answer(self, question: str, **arguments: Any) -> Answer:
        """Wait for the whole answer; arguments as of `stream`."""
        stream = self.stream(question, **arguments)
        for _ in stream:
            pass
        return stream.answer

    def stream(
        self,
        question: str,
        *,
        mode: Mode = "direct",
        ask_intent: bool | None = None,
        **arguments: Any,
    ) -> AnswerStream:
        """Begin an answer; nothing is done before it is iterated.

        `arguments` are those of `pgrag.answer_context`; in the agentic mode library, version,
        filters, template, max_steps and max_tokens (see `run_agent`). Raises `InvalidInput` for
        others, and for an empty question.
        """
        if not question.strip():
            raise InvalidInput("The question is empty.")
        given = {name: value for name, value in arguments.items() if value is not None}
        foreign = foreign_arguments(mode, {**given, "ask_intent": ask_intent or None})
        if mode != "agentic":
            given["ask_intent"] = self._ask_intent if ask_intent is None else ask_intent
        if foreign:
            raise InvalidInput(
                f"The {mode} mode has no use for {', '.join(foreign)}.",
                hint=f"The agentic mode takes {', '.join(sorted(AGENTIC))}; the direct one what"
                " pgrag.answer_context takes.",
            )
        return AnswerStream(self, question, mode, given)


def foreign_arguments(mode: Mode, arguments: Mapping[str, Any]) -> list[str]:
    """Names of the arguments (None: not given) that a mode has no use for."""
    given = {name for name, value in arguments.items() if value is not None}
    return sorted(given - AGENTIC if mode == "agentic" else given & (AGENTIC - SHARED))
