"""Has a language model write for a library what is missing, and puts it into the documents."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pgrag.db import Database
from pgrag.enrichment.calls import Answer, Calls
from pgrag.enrichment.kinds import Kind
from pgrag.enrichment.report import EnrichmentPlan, EnrichmentReport, Progress
from pgrag.errors import DatabaseError, LanguageModelError, PgragError
from pgrag.llm import LanguageModel

#: Answers stored in one transaction, and the seconds after which fewer are.
_BATCH = 50
_PATIENCE = 5.0
#: Failures in a row after which the model is taken for unusable.
GIVE_UP = 10
#: Failures that a report holds; `pgrag.enrichment_failures` lists all.
_LISTED = 20

#: Embeds texts of pages (None: of all) that have no vector yet, and returns how many there were.
Embed = Callable[[list[int] | None], int]


class Enricher:
    """Enriches one library, or one of its versions, with `concurrency` requests at a time.

    What is written is kept by what it was written for: a run that was interrupted goes on where it
    was, and one over unchanged documents asks nothing. The work of this process is to wait. `embed`
    gets the pages whose texts have changed, as soon as they have.
    """

    def __init__(
        self,
        database: Database,
        model: LanguageModel,
        embed: Embed,
        library: str,
        version: str | None = None,
        *,
        concurrency: int = 5,
        max_tokens: int = 1024,
    ) -> None:
        self._database = database
        self._model = model
        self._embed = embed
        self._place = {"library": library, "version": version}
        self._concurrency = concurrency
        self._max_tokens = max_tokens

    def plan(self, kind: Kind) -> EnrichmentPlan:
        """Return what a run would do; nothing is asked and nothing written."""
        [row] = self._database.call(
            "planned_enrichments", **self._place, **_identity(kind, self._model.name)
        )
        return EnrichmentPlan(
            kind.value,
            row["calls"],
            row["kept"],
            row["documents"],
            row["input_tokens"] + row["calls"] * kind.overhead_tokens,
            row["calls"] * kind.answer_tokens,
        )

    def run(self, kind: Kind, progress: Progress | None = None) -> EnrichmentReport:
        """Have everything written that is missing.

        An input that the model fails on leaves its documents as they are and is listed. However the
        run ends, what has been written is stored. Raises `LanguageModelError` when the model fails
        several times in a row, `EmbeddingError` when vectors cannot be had: the next `pgrag index`
        or `pgrag embed` brings them; and `DatabaseError` while another run is at the library, which
        would ask, and pay for, the same.
        """
        library = (self._place["library"] or "").strip().lower()
        with self._database.lock(f"pgrag enrich {library}") as is_alone:
            if not is_alone:
                raise DatabaseError(
                    f"Another run is enriching the library {library!r}.",
                    hint="Wait for its end, or interrupt it: what it has stored stays.",
                )
            return self._run(kind, progress)

    def _run(self, kind: Kind, progress: Progress | None) -> EnrichmentReport:
        started = time.monotonic()
        plan = self.plan(kind)
        run = _Run(self._database, self._place["library"] or "", kind, self._model, self._embed)
        run.begin(plan.calls + plan.kept, progress)
        # A run that was killed may have stored texts and not embedded them.
        run.report.embedded += self._embed(None)
        if plan.calls + plan.kept:
            with Calls(
                self._model, kind, concurrency=self._concurrency, max_tokens=self._max_tokens
            ) as calls:
                try:
                    self._ask_all(kind, calls, run)
                except BaseException:
                    # What was answered was paid for. A second fault has nothing new to say.
                    with contextlib.suppress(PgragError):
                        run.take(calls.cancel(), is_last=True)
                    raise
            self._database.call("refresh_statistics", library=self._place["library"])
        run.report.seconds = time.monotonic() - started
        return run.report

    def _ask_all(self, kind: Kind, calls: Calls, run: _Run) -> None:
        for row in self._rows(kind):
            if row["text"] is not None:
                run.take([Answer(row, row["text"])])
                continue
            calls.ask(row)
            while calls.is_full:
                run.take(calls.answers(_PATIENCE))
        while not calls.is_idle:
            run.take(calls.answers(_PATIENCE))
        run.take([], is_last=True)

    def _rows(self, kind: Kind) -> Iterator[dict[str, Any]]:
        """Yield what is pending, page by page; what fails meanwhile does not come again."""
        after: str | None = None
        while True:
            rows = self._database.call(
                "pending_enrichments",
                **self._place,
                **_identity(kind, self._model.name),
                after_key=after,
            )
            if not rows:
                return
            yield from rows
            after = rows[-1]["key"]


class _Run:
    """Stores answers as they come, and counts."""

    def __init__(
        self, database: Database, library: str, kind: Kind, model: LanguageModel, embed: Embed
    ) -> None:
        self.report = EnrichmentReport(kind.value)
        self._database = database
        self._library = library
        self._kind = kind
        self._model = model
        self._embed = embed
        self._waiting: list[Answer] = []
        self._unembedded: list[int] = []
        self._stored_at = time.monotonic()
        self._failed_in_a_row = 0
        self._total = self._done = 0
        self._progress: Progress | None = None

    def begin(self, total: int, progress: Progress | None) -> None:
        """Say how much there is to be done; who may not store it is refused before it costs."""
        self._total = total
        self._progress = progress
        self._stored([])

    def take(self, answers: Iterator[Answer] | Sequence[Answer], *, is_last: bool = False) -> None:
        """Take answers in, and store them once there are enough. Raises `LanguageModelError`."""
        for answer in answers:
            self._waiting.append(answer)
            self._count(answer)
        is_late = time.monotonic() - self._stored_at > _PATIENCE
        if self._waiting and (is_last or is_late or len(self._waiting) >= _BATCH):
            self._store()
        elif is_last:
            self._embed_changed()
        if self._failed_in_a_row >= GIVE_UP and not is_last:
            self._store()
            raise LanguageModelError(
                f"{self._failed_in_a_row} requests in a row failed, the last one so:"
                f" {self.report.failures[-1][1]}",
                hint="What is written stays; the next run goes on from there.",
            )

    def _count(self, answer: Answer) -> None:
        report = self.report
        if answer.usage is not None:
            report.prompt_tokens += answer.usage.prompt_tokens
            report.completion_tokens += answer.usage.completion_tokens
        if answer.row["text"] is not None:
            report.kept += 1
        else:
            report.calls += 1
        if answer.text:
            self._failed_in_a_row = 0
        else:
            self._failed_in_a_row += 1
            report.failed += 1
            report.failures = [*report.failures[1 - _LISTED :], (answer.row["key"], answer.reason)]
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self._total, self._done), report.failed)

    def _store(self) -> None:
        answers = self._waiting
        if not answers:
            return
        self._stored_at = time.monotonic()
        changed = self._stored(answers)
        # Not before: what could not be stored is tried once more when the run ends.
        self._waiting = self._waiting[len(answers) :]
        self.report.documents += sum(row["documents"] for row in changed)
        self._unembedded += [row["page_id"] for row in changed]
        self._embed_changed()

    def _embed_changed(self) -> None:
        if self._unembedded:
            self.report.embedded += self._embed(self._unembedded)
            self._unembedded = []

    def _stored(self, answers: Sequence[Answer]) -> list[dict[str, Any]]:
        return self._database.call(
            "store_enrichments",
            library=self._library,
            **_identity(self._kind, self._model.name),
            # Of an empty list nothing tells that it is JSON.
            enrichments=[_as_given(answer) for answer in answers] or "[]",
        )


def _identity(kind: Kind, model: str) -> dict[str, str]:
    return {
        "kind": kind.name_in_database,
        "model": model,
        "prompt_version": kind.prompt_version,
    }


def _as_given(answer: Answer) -> dict[str, Any]:
    """The answer in the form that `pgrag.store_enrichments` takes."""
    stored: dict[str, Any] = {
        "input_hash": str(answer.row["input_hash"]),
        "document_ids": answer.row["document_ids"],
    }
    if not answer.text:
        return stored | {"reason": answer.reason}
    if answer.usage is not None:
        stored["prompt_tokens"] = answer.usage.prompt_tokens
        stored["completion_tokens"] = answer.usage.completion_tokens
    return stored | {"text": answer.text}
