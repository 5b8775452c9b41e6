"""Runs on labelled sets: importing queries, and comparing two configurations."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from benchmarks.figures import Figure
from pgrag.evaluation import runs
from pgrag.evaluation.runs import Configuration
from pgrag.service.app import App

METRIC = "ndcg@10"


class Comparison(NamedTuple):
    """Two runs, and the difference of the second from the first with its interval and p."""

    before: dict[str, Any]
    after: dict[str, Any]
    difference: dict[str, Any]

    def figure(self, what: str, on: str, *, has_target: bool = True) -> Figure:
        """Whether the second run is at least as good."""
        before, after = (run["metrics"][METRIC] for run in (self.before, self.after))
        gain = self.difference
        return Figure(
            f"{METRIC} with {what}, without",
            f"{self.after['set']}, {self.after['queries']} queries{on}",
            f"{after:.4f}, {before:.4f} ({gain['lower_bound']:+.4f} to"
            f" {gain['upper_bound']:+.4f}, p {gain['p_value']:.4f})",
            "≥ without" if has_target else "",
            after >= before if has_target else None,
        )


def compare(
    app: App, name: str, before: Configuration, after: Configuration,
    metrics: Sequence[str] = (METRIC,), by: str = METRIC,
) -> Comparison:  # fmt: skip
    """Run a set by two configurations and test the difference of a metric."""
    pair = [runs.run(app, name, each, metrics) for each in (before, after)]
    return Comparison(*({"set": name} | run for run in pair), difference(app, *pair, by=by))


def difference(
    app: App, before: dict[str, Any], after: dict[str, Any], by: str = METRIC
) -> dict[str, Any]:
    """The paired comparison of two runs."""
    [row] = app.database.call(
        "compare_evaluations", run_id=before["run"], other_run_id=after["run"], metric=by
    )
    return row


def import_queries(
    app: App, name: str, library: str, queries: Sequence[dict[str, Any]], unit: str = "page"
) -> None:
    """Import a set about a library that is indexed, held out from tuning."""
    app.database.call(
        "import_evaluation_set",
        name=name,
        library=library,
        queries=json.dumps(queries),
        unit=unit,
        source={"held_out": True},
    )
