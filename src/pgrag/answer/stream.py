"""One answer while it is made: sources, then the model's words, then what can be said of them."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pgrag.answer.agent import AgentOutcome, run_agent
from pgrag.answer.agent_events import Tell, events_of, plain
from pgrag.answer.intents import model_intent
from pgrag.answer.recorder import Recorder
from pgrag.answer.stopping import StopSwitch
from pgrag.answer.support import checked_sentences
from pgrag.answer.text import AnswerText
from pgrag.answer.values import Answer, AnswerEvent, CitedSource, Mode, Status
from pgrag.db import Row
from pgrag.errors import GenerationCancelled, InvalidInput, LanguageModelError, NotFound
from pgrag.llm import Message, Usage

if TYPE_CHECKING:
    from pgrag.answer.answerer import Answerer

NOTHING_FOUND = "The documentation does not answer this question."
"""The answer where no source was found; the model is not asked then."""

_ABOUT_INTENT = ("intent", "query_type", "decided_by", "rule", "strategy")


class AnswerStream:
    """An answer while it is made. Iterate once for its events; the last is `done`.

    Iterating raises `LanguageModelError` where the model fails, `GenerationCancelled` after
    `cancel`, and what the search functions raise. To close `events` early cancels.
    """

    def __init__(
        self, answerer: Answerer, question: str, mode: Mode, arguments: dict[str, Any]
    ) -> None:
        self._with = answerer
        self._question = question
        self._mode: Mode = mode
        self._arguments = arguments
        self._switch = StopSwitch()
        self._recorder = Recorder(answerer.database, answerer.client, question, arguments)
        self._started = perf_counter()
        self._timings: dict[str, float] = {}
        self._notices: list[str] = []
        self._intent: dict[str, Any] | None = None
        self._messages: list[Message] = []
        self._sources: dict[int, Row] = {}
        self._text = AnswerText(self._sources.get)
        self._usage = Usage(0, 0)
        self._model: str | None = None
        self._trace: list[dict[str, Any]] | None = None
        self._answer: Answer | None = None
        self.events = self._made()

    def __iter__(self) -> Iterator[AnswerEvent]:
        return self.events

    @property
    def answer(self) -> Answer:
        """The whole of it, once the iteration has come to its end."""
        if self._answer is None:
            raise RuntimeError("The answer is not finished.")
        return self._answer

    def cancel(self) -> None:
        """End it from any thread; the connection to the language model is closed."""
        self._switch.stop()

    def _made(self) -> Generator[AnswerEvent, None, None]:
        self._started = perf_counter()
        try:
            self._switch.check()
            yield from self._searched() if self._mode == "agentic" else self._found_and_written()
            yield from self._text.finish()
            yield AnswerEvent("done", self._finished().as_json())
        except BaseException as error:
            self._switch.stop()
            is_failure = isinstance(error, Exception) and not isinstance(error, GenerationCancelled)
            is_unusable = isinstance(error, InvalidInput | NotFound)
            if self._trace is not None and not is_unusable:
                self._record_found()
            self._record("failed" if is_failure else "cancelled", self._text.shown)
            raise

    def _found_and_written(self) -> Iterator[AnswerEvent]:
        yield from self._found()
        if self._sources:
            yield from self._written()
        else:
            yield from self._text.feed(NOTHING_FOUND)

    def _found(self) -> Iterator[AnswerEvent]:
        """Choose the strategy, find the sources, record the search."""
        decided_by = self._ask_for_intent()
        started = perf_counter()
        found = self._with.results.answer_context(self._question, **self._arguments)
        self._took("retrieval", started)
        self._notices += found.notices
        [material] = found.rows
        self._sources |= {source["number"]: source for source in material["sources"]}
        self._messages = [Message(**message) for message in material["messages"]]
        self._intent = {name: material[name] for name in _ABOUT_INTENT} | decided_by
        self._recorder.search(
            self._mode,
            material["sources"],
            timings=material["timings"],
            duration_ms=self._timings["retrieval"],
        )
        yield AnswerEvent("intent", dict(self._intent))
        search_id = self._recorder.search_id
        yield AnswerEvent(
            "sources",
            {
                "sources": material["sources"],
                "tokens": material["tokens"],
                "search_id": search_id and str(search_id),
                "notices": list(self._notices),
            },
        )

    def _ask_for_intent(self) -> dict[str, str]:
        """Let the model name the intent where it is asked to; who then decided."""
        wants_model = self._arguments.pop("ask_intent", False)
        if not wants_model or self._arguments.get("intent") not in {None, "auto"}:
            return {}
        started = perf_counter()
        named = model_intent(self._with.database, self._with.model, self._question, self._switch)
        self._took("intent", started)
        if named is None:
            return {}
        self._arguments["intent"] = named
        return {"decided_by": "model"}

    def _written(self) -> Iterator[AnswerEvent]:
        """Let the model put into words what was found."""
        started = perf_counter()
        writing = self._with.model.stream(
            self._messages, max_tokens=self._with.max_tokens, temperature=self._with.temperature
        )
        with self._switch.over(writing):
            for piece in writing:
                if "first_token" not in self._timings:
                    self._took("first_token", started)
                yield from self._text.feed(piece)
        self._took("writing", started)
        completion = writing.completion
        if not completion.text.strip():
            raise LanguageModelError(
                f"{self._with.model.name} calls tools instead of answering.",
                hint="There are none for it in this mode; try another model.",
            )
        self._note(completion.usage, completion.model, completion.finish_reason)

    def _searched(self) -> Iterator[AnswerEvent]:
        """Let the model search by itself, and answer."""
        started = perf_counter()

        def run(tell: Tell) -> AgentOutcome:
            return run_agent(
                self._with.model,
                self._with.results,
                self._with.database.call,
                self._question,
                **self._arguments,
                answer_tokens=self._with.max_tokens,
                temperature=self._with.temperature,
                on_event=tell,
                on_stream=self._switch.watch,
                is_cancelled=self._switch.is_stopped,
            )

        steps: list[dict[str, Any]] = []
        self._trace = steps
        with closing(events_of(run, self._switch)) as events:
            for event in events:
                if isinstance(event, AgentOutcome):
                    self._trace = plain(event.trace)
                    self._note(event.usage, event.model, event.finish_reason)
                elif event.name == "token":
                    yield from self._text.feed(event.data["text"])
                else:
                    if event.name == "sources":
                        new = event.data["sources"]
                        self._sources |= {source["number"]: source for source in new}
                    elif event.name == "step":
                        steps.append(event.data)
                        self._count(event.data)
                    yield event
        self._took("writing", started)
        self._record_found()

    def _record_found(self) -> None:
        """Record what the model's own searches found, as one search, once."""
        if self._recorder.search_id is None:
            sources = list(self._sources.values())
            # How long they took is recorded with each of them; the rest is the model's time.
            self._recorder.search(self._mode, sources, timings=None, duration_ms=None)

    def _count(self, step: dict[str, Any]) -> None:
        """What a step took was paid for, also where none of the next ones ends in an answer."""
        self._usage = Usage(
            self._usage.prompt_tokens + step["prompt_tokens"],
            self._usage.completion_tokens + step["completion_tokens"],
        )

    def _note(self, usage: Usage, model: str, finish_reason: str) -> None:
        self._usage, self._model = usage, model
        if finish_reason == "length":
            self._notices.append(
                f"The answer ends where its {self._with.max_tokens:,} tokens were used up; raise"
                " PGRAG_LLM_MAX_TOKENS."
            )

    def _finished(self) -> Answer:
        """Check what is written, and record it."""
        started = perf_counter()
        text, is_denial = self._text.final()
        text = text or NOTHING_FOUND
        is_answered = bool(self._sources) and not is_denial
        status: Status = "answered" if is_answered else "not_in_documentation"
        citations = self._text.citations
        sentences = (
            checked_sentences(self._with.database, text, citations, self._sources)
            if is_answered
            else []
        )
        self._took("checks", started)
        self._took("total", self._started)
        self._record(status, text)
        self._answer = Answer(
            question=self._question,
            text=text,
            status=status,
            mode=self._mode,
            model=self._model,
            intent=self._intent,
            sources=list(self._sources.values()),
            citations=[
                CitedSource(found.number, found.start, found.end, source["document_id"])
                for found in citations
                if (source := self._sources.get(found.number))
            ],
            unknown_citations=sorted({found.number for found in citations} - self._sources.keys()),
            sentences=sentences,
            usage=self._usage,
            timings=self._timings,
            search_id=self._recorder.search_id,
            trace=self._trace,
            notices=list(dict.fromkeys(self._notices)),
        )
        return self._answer

    def _took(self, step: str, started: float) -> None:
        self._timings[step] = round(1000 * (perf_counter() - started), 3)

    def _record(self, status: str, text: str) -> None:
        if self._answer is None:
            self._recorder.answer(
                status,
                text,
                intent=None if self._intent is None else self._intent["intent"],
                model=self._model or self._with.model.name,
                citations=self._text.citations,
                sources=self._sources,
                trace=self._trace,
                usage=self._usage,
                timings=self._timings,
            )
