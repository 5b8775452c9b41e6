"""Runs of a set, comparisons, and the gate that a change has to pass."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgvector import HalfVector

from pgrag.errors import InvalidInput, SourceError, UnknownEvaluationSet
from pgrag.evaluation.configurations import Configuration, read_configurations

if TYPE_CHECKING:
    from pgrag.app import App

METRICS = ("ndcg@10", "mrr@10", "recall@20")
"""What a run is told by, unless others are asked for."""

GATE_METRIC = "ndcg@10"

#: Results that a run keeps of each query, unless its configuration says otherwise.
_DEPTH = 20

_QUERIES = """
select q.query
from pgrag.evaluation_queries as q
join pgrag.evaluation_sets as s on s.set_id = q.set_id
where s.name = %s
"""


def builtin(app: App) -> list[Configuration]:
    """The built-in configurations."""
    return [
        Configuration(row["name"], row["configuration"])
        for row in app.database.call("evaluation_configurations")
    ]


def chosen(app: App, names: Sequence[str], file: Path | None = None) -> list[Configuration]:
    """The configurations of these names, from the file or built in.

    Without names: all of the file, or all that are built in. Raises InvalidInput for a name that
    is neither.
    """
    written = [] if file is None else read_configurations(file, app.database)
    by_name = {configuration.name: configuration for configuration in (*builtin(app), *written)}
    for name in names:
        if name not in by_name:
            raise InvalidInput(
                f"There is no configuration {name!r}.",
                hint=f"There are: {', '.join(by_name)}. Others say how: function, arguments, …",
            )
    if names:
        return [by_name[name] for name in names]
    return written or list(by_name.values())


def ablation(app: App) -> list[Configuration]:
    """The configurations of an ablation: what each part of the search is worth."""
    with resources.as_file(resources.files("pgrag.evaluation") / "ablation.yaml") as path:
        return read_configurations(path, app.database)


def find_set(app: App, name: str) -> dict[str, Any]:
    """A set as `pgrag.evaluation_sets` lists it. Raises UnknownEvaluationSet."""
    rows = app.database.call("evaluation_sets")
    for row in rows:
        if row["name"] == name.strip().lower():
            return row
    there = ", ".join(row["name"] for row in rows)
    raise UnknownEvaluationSet(
        f"There is no evaluation set {name!r}.",
        hint=f"There are: {there}." if there else "Import one: pgrag eval import SET PATH.",
    )


def check_metrics(app: App, metrics: Sequence[str]) -> None:
    """Raise InvalidInput for a metric that there is not, before a run has been made for nothing."""
    for metric in metrics:
        app.database.call("ranking_metric", metric=metric, grades=[0], judged=[1])


def run(
    app: App, name: str, configuration: Configuration, metrics: Sequence[str] = METRICS
) -> dict[str, Any]:
    """Ask every query of a set; return the run with its metrics.

    The queries' vectors are made here where the library's model is not in the database.
    """
    evaluation_set = find_set(app, name)
    check_metrics(app, metrics)
    _embed_queries(app, evaluation_set, configuration)
    [row] = app.database.call(
        "run_evaluation",
        evaluation_set=evaluation_set["name"],
        name=configuration.name,
        configuration=_deep_enough(configuration.document, metrics),
    )
    return told(app, row["run_evaluation"], metrics)


def _depth(metric: str) -> int:
    """How deep a metric reads; 0 for the whole list. What it is called is the database's to say."""
    depth = metric.partition("@")[2]
    return int(depth) if depth.isdecimal() else 0


def _deep_enough(document: dict[str, Any], metrics: Sequence[str]) -> dict[str, Any]:
    """The configuration with as many results as the metrics read, unless it says how many."""
    deepest = max(map(_depth, metrics), default=0)
    return document if deepest <= _DEPTH or "depth" in document else document | {"depth": deepest}


def told(app: App, run_id: int, metrics: Sequence[str] = METRICS) -> dict[str, Any]:
    """A run with those of the metrics that it is deep enough for, as it is printed."""
    [found] = [row for row in app.database.call("evaluation_runs") if row["run_id"] == run_id]
    kept = found["configuration"]["depth"]
    means = app.database.call(
        "evaluation_metrics", run_id=run_id, metrics=[m for m in metrics if _depth(m) <= kept]
    )
    finished, started = found["finished_at"], found["started_at"]
    return {
        "set": found["set_name"],
        "config": found["name"],
        "run": run_id,
        "queries": found["query_count"],
        "library": found["library"],
        "version": found["version"],
        "model": found["model"],
        "configuration": found["configuration"],
        "settings": found["settings"],
        "functions": found["functions"],
        "seconds": round((finished - started).total_seconds(), 3),
        "metrics": {row["metric"]: row["score"] for row in means},
    }


def _embed_queries(app: App, evaluation_set: dict[str, Any], configuration: Configuration) -> None:
    document = configuration.document
    arguments = document.get("arguments") or {}
    if document.get("function") == "keyword_search" or arguments.get("alpha") == 0:
        return
    library = document.get("library") or evaluation_set["library"]
    if document.get("variant"):
        library = f"{library}-{document['variant']}"
    model = arguments.get("model") or app.library_model(library)
    embedder = None if model == app.providers.builtin.name else app.providers.embedder_of(model)
    if embedder is None:
        return
    for row in app.database.query(_QUERIES, [evaluation_set["name"]]):
        for missing in app.database.call(
            "missing_query_models", query=row["query"], library=library, model=model
        ):
            app.database.call(
                "remember_query_vector",
                query=row["query"],
                model=model,
                query_embedding=HalfVector(embedder.embed_query(missing["words"])),
            )


def gate(
    app: App, name: str, baseline: Path, *, tolerance: float, update: bool = False
) -> list[dict[str, Any]]:
    """Run the configurations of a baseline and say which have fallen below it.

    A baseline is a JSON file: {"set": …, "metric": …, "scores": {configuration: mean}}. With
    `update` it is written anew from the built-in configurations. Raises SourceError where it
    cannot be read.
    """
    if update:
        runs = [run(app, name, configuration) for configuration in builtin(app)]
        scores = {r["config"]: round(r["metrics"][GATE_METRIC], 4) for r in runs}
        document = {"set": name, "metric": GATE_METRIC, "scores": scores}
        baseline.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    else:
        scores = _read_baseline(baseline, name)
        runs = [run(app, name, configuration) for configuration in chosen(app, [*scores])]
    return [
        {
            "set": r["set"],
            "config": r["config"],
            "run": r["run"],
            "metric": GATE_METRIC,
            "baseline": scores[r["config"]],
            "score": r["metrics"][GATE_METRIC],
            "passed": r["metrics"][GATE_METRIC] >= scores[r["config"]] - tolerance,
        }
        for r in runs
    ]


def _read_baseline(path: Path, name: str) -> dict[str, float]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(
            f"{path}: cannot be read: {error.strerror}.", hint="Write it: --update."
        ) from None
    except ValueError as error:
        raise SourceError(f"{path}: no JSON: {error}.") from None
    scores = document.get("scores") if isinstance(document, dict) else None
    if not isinstance(scores, dict) or not all(
        isinstance(score, int | float) for score in scores.values()
    ):
        raise SourceError(
            f"{path}: is no baseline.",
            hint='It looks like {"set": "…", "scores": {"hybrid": 0.9}}.',
        )
    if document.get("set") != name:
        raise SourceError(f"{path}: is the baseline of the set {document.get('set')!r}.")
    return scores
