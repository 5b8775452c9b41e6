"""Answers to questions: SQL retrieves, a language model writes, rules check."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from pgrag.answer.stream import AnswerStream, Means
from pgrag.ground.errors import InvalidInput
from pgrag.ground.values.answers import Answer, AnswerMode

SHARED = frozenset({"library", "version", "filters", "template"})
AGENTIC = SHARED | {"max_steps", "max_tokens"}
"""Arguments of both modes, and of the agentic mode."""


@dataclass(frozen=True, slots=True)
class Answerer(Means):
    """Answers questions; usable by several threads at once. `ask_intent`: whether the model names
    the intent of a question that no rule matches; an answer's own `ask_intent` overrides it.
    """

    _: KW_ONLY
    ask_intent: bool = False

    def answer(self, question: str, **arguments: Any) -> Answer:
        """Wait for the whole answer; takes the arguments of `stream`."""
        stream = self.stream(question, **arguments)
        for _ in stream:
            pass
        return stream.answer

    def stream(
        self,
        question: str,
        *,
        mode: AnswerMode = "direct",
        ask_intent: bool | None = None,
        **arguments: Any,
    ) -> AnswerStream:
        """Return an answer that starts when it is iterated. `arguments` are those of
        `pgrag.answer_context`; in the agentic mode library, version, filters, template, max_steps
        and max_tokens (see `Agent`). Raises `InvalidInput` for any other argument, and for an empty
        question.
        """
        if not question.strip():
            raise InvalidInput("The question is empty.")
        chosen = {name: value for name, value in arguments.items() if value is not None}
        foreign = foreign_arguments(mode, {**chosen, "ask_intent": ask_intent or None})
        if mode != "agentic":
            chosen["ask_intent"] = self.ask_intent if ask_intent is None else ask_intent
        if foreign:
            raise InvalidInput(
                f"The {mode} mode has no use for {', '.join(foreign)}.",
                hint=f"The agentic mode takes {', '.join(sorted(AGENTIC))}; the direct one what"
                " pgrag.answer_context takes.",
            )
        return AnswerStream(self, question, mode, chosen)


def foreign_arguments(mode: AnswerMode, arguments: Mapping[str, Any]) -> list[str]:
    """Names of the arguments that a mode does not take; None counts as not given."""
    names = {name for name, value in arguments.items() if value is not None}
    return sorted(names - AGENTIC if mode == "agentic" else names & (AGENTIC - SHARED))
