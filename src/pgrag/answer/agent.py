"""Agentic answers: a language model looks for its sources itself, by tools, within bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any
from uuid import UUID

from pgrag.answer.agent_run import Run, Tell
from pgrag.answer.tools import Call, Toolbox
from pgrag.errors import GenerationCancelled, InvalidInput
from pgrag.llm import CompletionStream, LanguageModel, Usage
from pgrag.search import Search

MAX_STEPS = 6
MAX_TOKENS = 30_000
ANSWER_TOKENS = 1024
"""Defaults: steps with tools, tokens read and written in all of them, tokens of one completion."""

TEMPLATE = "agent"
"""What the model is told, unless another template is named."""


@dataclass(frozen=True, slots=True)
class AgentOutcome:
    """An answer and how it came about.

    `sources`: as those of `pgrag.answer_context`, numbered as they appeared. `trace`: one object a
    step, with its `step` (from 1), `calls` (each with `tool`, `arguments`, `outcome`, `sources`,
    `tokens`, `search_id`, `ms`), `text` beside them, `prompt_tokens`, `completion_tokens`, `ms`,
    and in the last one `forced`: why there were no tools any more, else null. `finish_reason` is
    that of the answer; `search_ids` are those of the recorded searches.
    """

    text: str
    sources: list[dict[str, Any]]
    trace: list[dict[str, Any]]
    usage: Usage
    finish_reason: str
    model: str
    search_ids: list[UUID]


def run_agent(
    model: LanguageModel,
    search: Search,
    call: Call,
    question: str,
    *,
    library: str | None = None,
    version: str | None = None,
    filters: dict[str, Any] | None = None,
    template: str = TEMPLATE,
    max_steps: int = MAX_STEPS,
    max_tokens: int = MAX_TOKENS,
    answer_tokens: int = ANSWER_TOKENS,
    temperature: float | None = None,
    on_event: Tell = lambda _name, _data: None,
    on_stream: Callable[[CompletionStream], object] = lambda _: None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> AgentOutcome:
    """Let a model search until it answers.

    At most `max_steps` times it is asked with tools, then once without. All that it reads and
    writes together stays within `max_tokens`, of which each completion gets `answer_tokens` at
    most; what a server does not count is estimated. A call that was made before is not made again;
    after two steps in a row without anything new, or where a bound is near, tools are taken away
    and it must answer. The `template` of the configuration says who the model is, and how it is
    asked in the end.

    `on_event` gets "sources" (`{"sources": […]}`, those that are new), "step" (as in the trace) and
    "token" (`{"text": …}`, of the answer only). `on_stream` gets each completion before it is read:
    to cancel it ends the run wherever it waits. Raises `GenerationCancelled`, `InvalidInput`,
    `LanguageModelError`, `NotFound` for the library, and what the database raises.
    """
    _check(question, max_steps)
    tools = Toolbox(search, call, library=library, version=version, filters=filters)
    run = Run(
        model,
        tools,
        call,
        question,
        template=template,
        max_tokens=max_tokens,
        answer_tokens=answer_tokens,
        temperature=temperature,
    )
    run.require_tokens()
    while True:
        if is_cancelled():
            raise GenerationCancelled("The answer was cancelled.")
        forced = run.reason_to_answer(max_steps)
        started = perf_counter()
        completion, pieces = run.ask(forced, on_stream, on_event)
        calls = [] if forced else run.use_tools(completion, on_event)
        is_last = not calls and not run.must_look_first(completion, forced)
        step = run.traced(completion, calls, forced, 1000 * (perf_counter() - started))
        if is_last:
            for piece in pieces:
                on_event("token", {"text": piece})
        on_event("step", step)
        if is_last:
            return AgentOutcome(
                text=completion.text,
                sources=tools.sources,
                trace=run.trace,
                usage=run.usage,
                finish_reason=completion.finish_reason,
                model=completion.model,
                search_ids=run.search_ids,
            )


def _check(question: str, max_steps: int) -> None:
    if not question.strip():
        raise InvalidInput("The question is empty.")
    if not 1 <= max_steps <= 50:
        raise InvalidInput(f"max_steps must be 1 to 50, not {max_steps}.")
