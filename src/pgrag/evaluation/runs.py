"""Runs of a set by configurations, built-in ones or from YAML, and the regression gate."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from pgvector import HalfVector

from pgrag.ground.errors import InvalidInput, SourceError
from pgrag.ground.json_text import InvalidJson, read_json
from pgrag.service.app import App
from pgrag.service.configuration import read_file

METRICS = ("ndcg@10", "mrr@10", "recall@20")
"""Metrics shown for a run by default."""

GATE_METRIC = "ndcg@10"

#: Results stored per query, unless the configuration has a depth.
_DEPTH = 20

_WANTED = "must map names to configurations."
_HINT = "For example: half: {function: search, arguments: {alpha: 0.5}}"

#: Columns of a run that are printed under their own names.
_REPEATED = ("library", "version", "model", "configuration", "settings", "functions")

_QUERIES = """
select q.query
from pgrag.evaluation_queries as q
join pgrag.evaluation_sets as s on s.set_id = q.set_id
where s.name = %s
"""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A named way to search; its fields are described at `pgrag.run_evaluation`."""

    name: str
    document: dict[str, Any]


def read_configurations(app: App, path: Path) -> list[Configuration]:
    """Read the configurations of a file; the database checks each.

    Raises SourceError or InvalidInput, naming file and line.
    """
    read = read_file(path, wanted=_WANTED, hint=_HINT)
    if not read.value:
        raise InvalidInput(f"{path}:1: {_WANTED}", hint=_HINT)
    for name, document in read.value.items():
        for fault in app.database.call(
            "_pgrag.evaluation_complaints", configuration=json.dumps(document)
        ):
            line = read.line(name, *fault["location"])
            raise InvalidInput(f"{path}:{line}: {name}: {fault['complaint']}", hint=fault["hint"])
    return [Configuration(name, document) for name, document in read.value.items()]


def builtin(app: App) -> list[Configuration]:
    """The built-in configurations."""
    return [
        Configuration(row["name"], row["configuration"])
        for row in app.database.call("_pgrag.evaluation_configurations")
    ]


def chosen(app: App, names: Sequence[str], file: Path | None = None) -> list[Configuration]:
    """The configurations of these names, else all of the file, else all built-in ones."""
    written = [] if file is None else read_configurations(app, file)
    by_name = {configuration.name: configuration for configuration in (*builtin(app), *written)}
    for name in names:
        if name not in by_name:
            raise InvalidInput(
                f"There is no configuration {name!r}.",
                hint=f"There are: {', '.join(by_name)}. Define others in a file.",
            )
    if names:
        return [by_name[name] for name in names]
    return written or list(by_name.values())


def ablation(app: App) -> list[Configuration]:
    """The configurations of an ablation, which measures each part of the search."""
    with resources.as_file(resources.files("pgrag.evaluation") / "ablation.yaml") as path:
        return read_configurations(app, path)


def find_set(app: App, name: str) -> dict[str, Any]:
    """The stored row of a set. Raises UnknownEvaluationSet."""
    [row] = app.database.query(
        "select s.* from _pgrag.evaluation_set_id(%s) as found (set_id)"
        " left join pgrag.evaluation_sets as s on s.set_id = found.set_id",
        [name],
    )
    return row


def check_metrics(app: App, metrics: Sequence[str]) -> None:
    """Raise InvalidInput for an unknown metric, before a run is wasted."""
    for metric in metrics:
        app.database.call("pgrag.ranking_metric", metric=metric, grades=[0], judged=[1])


def run(
    app: App, name: str, configuration: Configuration, metrics: Sequence[str] = METRICS
) -> dict[str, Any]:
    """Run every query of a set, with query vectors where the database makes none."""
    evaluation_set = find_set(app, name)
    check_metrics(app, metrics)
    _embed_queries(app, evaluation_set, configuration)
    [row] = app.database.call(
        "run_evaluation",
        evaluation_set=evaluation_set["name"],
        name=configuration.name,
        configuration=_deep_enough(configuration.document, metrics),
    )
    return described(app, row["run_evaluation"], metrics)


def _depth(metric: str) -> int:
    """The cutoff of a metric; 0 for the whole list. The database validates the metric's name."""
    depth = metric.partition("@")[2]
    return int(depth) if depth.isdecimal() else 0


def _deep_enough(document: dict[str, Any], metrics: Sequence[str]) -> dict[str, Any]:
    """The configuration with as many results as the metrics need, unless it sets a depth."""
    deepest = max(map(_depth, metrics), default=0)
    return document if deepest <= _DEPTH or "depth" in document else document | {"depth": deepest}


def described(app: App, run_id: int, metrics: Sequence[str] = METRICS) -> dict[str, Any]:
    """A run as it is printed, with the metrics that it is deep enough for, and their margins."""
    [run_row] = [row for row in app.database.call("evaluation_runs") if row["run_id"] == run_id]
    kept = run_row["configuration"]["depth"]
    means = app.database.call(
        "evaluation_metrics", run_id=run_id, metrics=[m for m in metrics if _depth(m) <= kept]
    )
    finished, started = run_row["finished_at"], run_row["started_at"]
    return {
        "set": run_row["set_name"],
        "config": run_row["name"],
        "run": run_id,
        "queries": run_row["query_count"],
        **{name: run_row[name] for name in _REPEATED},
        "seconds": round((finished - started).total_seconds(), 3),
        "metrics": {row["metric"]: row["score"] for row in means},
        "margins": {row["metric"]: row["margin"] for row in means},
    }


def change(app: App, result: dict[str, Any], moved: int = 5) -> dict[str, Any] | None:
    """What differs from the latest earlier run of the same set, configuration and library, like
    `compare_evaluations`; None without one, or if they are not deep enough.
    """
    rows = app.database.call("evaluation_runs", evaluation_set=result["set"])
    [now] = [row for row in rows if row["run_id"] == result["run"]]
    same = ("set_digest", "name", "configuration", "library")
    earlier = [
        row["run_id"]
        for row in rows
        if row["run_id"] < now["run_id"]
        and row["finished_at"] is not None
        and all(row[each] == now[each] for each in same)
    ]
    if not earlier or now["configuration"]["depth"] < _depth(GATE_METRIC):
        return None
    pair = {"run_id": max(earlier), "other_run_id": now["run_id"], "metric": GATE_METRIC}
    [row] = app.database.call("compare_evaluations", **pair)
    return {**pair, **row, "moved": app.database.call("moved_queries", **pair, top_k=moved)}


def _embed_queries(app: App, evaluation_set: dict[str, Any], configuration: Configuration) -> None:
    document = configuration.document
    arguments = document.get("arguments") or {}
    if document.get("function") == "keyword_search" or arguments.get("alpha") == 0:
        return
    library = document.get("library") or evaluation_set["library"]
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
    """Run the configurations of a baseline, a JSON file of a set, a metric and scores, and compare.
    `update` rewrites it from the built-in configurations.
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
        document = read_json(path.read_bytes())
    except OSError as error:
        raise SourceError(
            f"{path}: cannot be read: {error.strerror}.", hint="Write it: --update."
        ) from None
    except InvalidJson as error:
        raise SourceError(f"{path}: not JSON: {error}.") from None
    scores = document.get("scores") if isinstance(document, dict) else None
    if not isinstance(scores, dict) or not all(
        isinstance(score, int | float) for score in scores.values()
    ):
        raise SourceError(
            f"{path}: is not a baseline.",
            hint='It looks like {"set": "…", "scores": {"hybrid": 0.9}}.',
        )
    if document.get("set") != name:
        raise SourceError(f"{path}: is the baseline of the set {document.get('set')!r}.")
    if (metric := document.get("metric") or GATE_METRIC) != GATE_METRIC:
        raise SourceError(f"{path}: is a baseline of {metric!r}; the gate compares {GATE_METRIC}.")
    return scores
