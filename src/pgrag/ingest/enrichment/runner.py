"""Have a language model write the missing texts of a library, and apply them to its passages."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from pgrag.ground.calls import Row
from pgrag.ground.connections import Database
from pgrag.ground.errors import DatabaseError, LanguageModelError, PgragError
from pgrag.ground.replicas import on_primary
from pgrag.ingest.enrichment.calls import ModelAnswer, ModelCalls
from pgrag.ingest.enrichment.kinds import Kind
from pgrag.ingest.locking import held
from pgrag.models.llm import ChatModel

#: Answers per transaction, and the seconds after which a smaller batch is stored.
_BATCH = 50
_PATIENCE = 5.0
#: Consecutive failures after which the model counts as unusable.
GIVE_UP = 10
#: Failures listed in a report; `pgrag.enrichment_failures` lists all.
_LISTED = 20

#: Embeds texts of pages (None: of all) that lack a vector, and returns their number.
Embed = Callable[[list[int] | None], int]
#: Called with (texts done, texts in all, failures) during a run.
Progress = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True)
class EnrichmentPlan:
    """What a run would do: `calls` with estimated tokens, `kept` texts that only need applying, and
    passages that change.
    """

    kind: str
    calls: int
    kept: int
    documents: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(slots=True)
class EnrichmentReport:
    """What a run did for one kind: `calls` with tokens, `kept` texts that were only applied,
    passages that changed, `failed` inputs, and up to 20 `failures`.
    """

    kind: str
    calls: int = 0
    kept: int = 0
    documents: int = 0
    failed: int = 0
    embedded: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    failures: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Enricher:
    """Enriches a library or a version. A text is stored under the hash of its input, so a run
    resumes. `embed` gets the pages whose texts changed.
    """

    database: Database
    model: ChatModel
    embed: Embed
    library: str
    version: str | None = None
    _: KW_ONLY
    limits: Mapping[str, int]
    concurrency: int = 5
    max_tokens: int = 1024

    def plan(self, kind: Kind) -> EnrichmentPlan:
        """Return what a run would do; sends no request and writes nothing."""
        limit = self.limits[kind.length]
        [row] = self._call("planned_enrichments", kind, limit)
        return EnrichmentPlan(
            kind.value,
            row["calls"],
            row["kept"],
            row["documents"],
            row["input_tokens"] + row["calls"] * kind.overhead_tokens,
            row["calls"] * -(-limit // 4),
        )

    @on_primary()
    def run(self, kind: Kind, progress: Progress | None = None) -> EnrichmentReport:
        """Write all missing texts; what is written is stored however the run ends. Raises
        `LanguageModelError` after several failures in a row, `EmbeddingError`, and `DatabaseError`
        while another run enriches the library.
        """
        with held(self.database, "enrich", self.library) as (name, taken):
            if taken:
                raise DatabaseError(
                    f"Another run is enriching the library {name!r}.",
                    hint="Wait for its end, or interrupt it: what it has stored stays.",
                )
            return self._run(kind, progress)

    def _run(self, kind: Kind, progress: Progress | None) -> EnrichmentReport:
        started = time.monotonic()
        plan = self.plan(kind)
        total = plan.calls + plan.kept
        limit = self.limits[kind.length]
        run = _Run(self, kind, limit, total, progress, EnrichmentReport(kind.value))
        # Without the privilege to store, the run fails here, before the first paid request.
        run.store([])
        # A killed run may have stored texts without embedding them.
        run.report.embedded += self.embed(None)
        if total:
            with ModelCalls(
                self.model, kind, limit, concurrency=self.concurrency, max_tokens=self.max_tokens
            ) as calls:
                try:
                    self._ask_all(calls, run)
                except BaseException:
                    # Finished answers were paid for. A second error would add nothing to the first.
                    with contextlib.suppress(PgragError):
                        run.take(calls.cancel(), is_last=True)
                    raise
            self.database.call("refresh_statistics", library=self.library)
        run.report.seconds = time.monotonic() - started
        return run.report

    def _ask_all(self, calls: ModelCalls, run: "_Run") -> None:
        for row in self._rows(run.kind, run.limit):
            if row["text"] is not None:
                run.take([ModelAnswer(row, row["text"])])
                continue
            calls.ask(row)
            while calls.is_full:
                run.take(calls.answers(_PATIENCE))
        while not calls.is_idle:
            run.take(calls.answers(_PATIENCE))
        run.take([], is_last=True)

    def _rows(self, kind: Kind, limit: int) -> Iterator[Row]:
        """Yield pending rows page by page; rows that fail during the run do not return."""
        after: str | None = None
        while rows := self._call("pending_enrichments", kind, limit, after_key=after):
            yield from rows
            after = rows[-1]["key"]

    def _call(self, function: str, kind: Kind, limit: int, **arguments: Any) -> list[Row]:
        return self.database.call(
            function,
            library=self.library,
            version=self.version,
            **_identity(kind, limit, self.model.name),
            **arguments,
        )


@dataclass(slots=True)
class _Run:
    enricher: Enricher
    kind: Kind
    limit: int
    total: int
    progress: Progress | None
    report: EnrichmentReport
    _done: int = 0
    _waiting: list[ModelAnswer] = field(default_factory=list)
    _unembedded: list[int] = field(default_factory=list)
    _stored_at: float = field(default_factory=time.monotonic)
    _failed_in_a_row: int = 0

    def take(self, answers: Iterable[ModelAnswer], *, is_last: bool = False) -> None:
        """Add answers, and store full batches. Raises `LanguageModelError`."""
        for answer in answers:
            self._waiting.append(answer)
            self._count(answer)
        is_late = time.monotonic() - self._stored_at > _PATIENCE
        if is_last or is_late or len(self._waiting) >= _BATCH:
            self._store_waiting()
        if self._failed_in_a_row >= GIVE_UP and not is_last:
            self._store_waiting()
            raise LanguageModelError(
                f"{self._failed_in_a_row} requests in a row failed: {self.report.failures[-1][1]}",
                hint="Texts already written stay; the next run continues from there.",
            )

    def _count(self, answer: ModelAnswer) -> None:
        report = self.report
        if answer.usage is not None:
            report.prompt_tokens += answer.usage.prompt_tokens
            report.completion_tokens += answer.usage.completion_tokens
        report.kept += answer.row["text"] is not None
        report.calls += answer.row["text"] is None
        if answer.text:
            self._failed_in_a_row = 0
        else:
            self._failed_in_a_row += 1
            report.failed += 1
            report.failures = [*report.failures[1 - _LISTED :], (answer.row["key"], answer.reason)]
        self._done += 1
        if self.progress is not None:
            self.progress(self._done, max(self.total, self._done), report.failed)

    def _store_waiting(self) -> None:
        if self._waiting:
            self._stored_at = time.monotonic()
            changed = self.store(self._waiting)
            # Not earlier: answers that could not be stored are retried when the run ends.
            self._waiting = []
            self.report.documents += sum(row["documents"] for row in changed)
            self._unembedded += [row["page_id"] for row in changed]
        if self._unembedded:
            self.report.embedded += self.enricher.embed(self._unembedded)
            self._unembedded = []

    def store(self, answers: Sequence[ModelAnswer]) -> list[Row]:
        """Store answers; return the passages that changed."""
        return self.enricher.database.call(
            "store_enrichments",
            library=self.enricher.library,
            **_identity(self.kind, self.limit, self.enricher.model.name),
            # An empty list would not be recognised as JSON.
            enrichments=[_stored_form(answer) for answer in answers] or "[]",
        )


def _identity(kind: Kind, limit: int, model: str) -> dict[str, str]:
    return {
        "kind": kind.name_in_database,
        "model": model,
        "prompt_version": kind.prompt_version(limit),
    }


def _stored_form(answer: ModelAnswer) -> dict[str, Any]:
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
