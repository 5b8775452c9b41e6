"""Ratings, labelled sets, their runs, and tuning."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

from pgrag.client.part import Part
from pgrag.ground.values.evaluation import (
    Comparison,
    EvaluationRun,
    EvaluationSet,
    GradedResult,
    ImportedSet,
    Judgement,
    Tuning,
)


class Evaluating(Part):
    """Measures searches, and tunes them."""

    def rate(
        self,
        search_id: UUID,
        rating: int,
        *,
        document_id: int | str | None = None,
        comment: str | None = None,
    ) -> None:
        """Rate a hit of a recorded search, or its answer as a whole, from 1 (useless) to 5."""
        self._call(
            "give_feedback", search_id=search_id, rating=rating, document_id=document_id,
            comment=comment,
        )  # fmt: skip

    def evaluation_sets(self) -> list[EvaluationSet]:
        """The labelled sets, ordered by name."""
        return self._rows(EvaluationSet, "evaluation_sets")

    def import_evaluation_set(
        self,
        name: str,
        library: str,
        queries: Sequence[Mapping[str, Any]],
        *,
        unit: Literal["page", "section", "document"] = "page",
    ) -> ImportedSet:
        """Create or replace a labelled set for a library.

        A query is `{"id": …, "text": …, "judgements": {target: grade}}`; `unit` decides what a
        target names, by default the key of a page.
        """
        [row] = self._call(
            "import_evaluation_set", name=name, library=library, queries=list(queries), unit=unit
        )
        return ImportedSet(
            name=name, queries=row["imported_queries"], judgements=row["imported_judgements"],
            unjudged=tuple(row["unjudged"]),
        )  # fmt: skip

    def judge(
        self,
        evaluation_set: str,
        library: str,
        query: str,
        target: str,
        grade: int | None,
        *,
        unit: Literal["page", "section", "document"] | None = None,
    ) -> GradedResult:
        """Grade one result of a query from 0 (not relevant) up; None removes the grade. Set and
        query are made if they are missing; `unit` is that of a new set.
        """
        return self._row(
            GradedResult, "judge", evaluation_set=evaluation_set, library=library, query=query,
            target=target, grade=grade, unit=unit,
        )  # fmt: skip

    def judgements(self, evaluation_set: str, query: str | None = None) -> list[Judgement]:
        """The judgements of a labelled set, or of one of its queries."""
        return self._rows(
            Judgement, "evaluation_judgements", evaluation_set=evaluation_set, query=query
        )

    def evaluate(
        self, evaluation_set: str, configuration: Mapping[str, Any] | None = None
    ) -> EvaluationRun:
        """Run every query of a set; `averages` has nDCG@10, recall and other metrics.

        The configuration is that of `pgrag.run_evaluation`, such as `{"function": "search",
        "arguments": {"alpha": 0.5}}`; None is the hybrid search with the library's settings.
        """
        from pgrag.evaluation import runs

        [hybrid] = runs.chosen(self._app, ["hybrid"])
        chosen = runs.Configuration("python", dict(configuration)) if configuration else hybrid
        run_id = runs.run(self._app, evaluation_set, chosen)["run"]
        rows = self._call("evaluation_runs", evaluation_set=evaluation_set)
        return EvaluationRun.from_row(next(row for row in rows if row["run_id"] == run_id))

    def compare(self, run_id: int, other_run_id: int, metric: str = "ndcg@10") -> Comparison:
        """The difference between two runs, with confidence interval and p value."""
        pair = {"run_id": run_id, "other_run_id": other_run_id, "metric": metric}
        [row] = self._call("compare_evaluations", **pair)
        return Comparison.from_row({**pair, **row, "moved": self._call("moved_queries", **pair)})

    def tune(self, library: str, *, dry_run: bool = False) -> Tuning:
        """Search for better settings of a library; keep them if they are significantly better."""
        return self._row(Tuning, "tune", library=library, dry_run=dry_run)
