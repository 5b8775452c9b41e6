"""What the weights of page types change: questions that guides answer, and that ask for news.

The questions of announcements.jsonl want a `guide` (a page that an announcement competes with) or
an `announcement` (a post or release notes). They were written for this measure before any search of
theirs was looked at, and the weight was not chosen with them but with k8s-anchor and the open half
of benchmarks/questions. The words that ask for announcements are by the same author, who knew them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from benchmarks.bench import Bench
from benchmarks.figures import Figure, table
from pgrag.evaluation import importing, runs
from pgrag.evaluation.runs import Configuration
from pgrag.ground.settings import Settings
from pgrag.service.app import App

LABELLED = Path(__file__).with_name("announcements.jsonl")
METRIC = "ndcg@10"
SYSTEMS: dict[str, dict[str, Any]] = {"hybrid": {}, "keyword": {"mode": "keyword"},
                                      "rrf": {"fusion": "rrf"}}  # fmt: skip
#: The shipped types whose weight is below 1, and weights to compare with theirs.
TYPES = ("blog", "release-notes")
WEIGHTS = (1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.5)
ANCHORS = "k8s-anchor"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: the corpus that it asks, what it wants, and its pages with their grades."""

    id: str
    text: str
    library: str
    wants: str
    relevant: dict[str, int]


def read(file: Path = LABELLED) -> list[Asked]:
    """The labelled questions."""
    rows = map(json.loads, file.read_text("utf-8").splitlines())
    return [Asked(id=row.pop("_id"), **row) for row in rows]


def in_search(bench: Bench) -> list[Figure]:
    """Ask the questions with and without weights; print other weights beside those that ship."""
    settings = Settings(
        database_url=SecretStr(bench.url), home=bench.scratch / "types-home", embedding_url=None
    )
    figures: list[Figure] = []
    with App(settings) as app:
        sets = _import(app, bench)
        figures += [
            _compared(app, name, system, arguments)
            for name in sets
            for system, arguments in SYSTEMS.items()
        ]
        print(_swept(app, sets), flush=True)
    return figures


def _import(app: App, bench: Bench) -> list[str]:
    """Index the corpora and import the sets; return their names."""
    importing.import_set(
        app, ANCHORS, bench.corpora.folder(ANCHORS), corpus=bench.corpora.pages("k8s-en")
    )
    libraries = {
        "k8s-en": importing.library_of(ANCHORS),
        "mdn-en": bench.mdn(),
        "fastapi-en": bench.require("fastapi-en", bench.corpora.pages("fastapi-en")),
    }
    sets = [ANCHORS]
    for name, part in _parts(read()):
        app.database.call(
            "import_evaluation_set",
            name=name,
            library=libraries[part[0].library],
            queries=json.dumps(
                [{"id": each.id, "text": each.text, "judgements": each.relevant} for each in part]
            ),
            source={"held_out": True},
        )
        sets.append(name)
    bench.settle()
    return sets


def _parts(questions: list[Asked]) -> Iterator[tuple[str, list[Asked]]]:
    for library, wants in dict.fromkeys((each.library, each.wants) for each in questions):
        part = [each for each in questions if (each.library, each.wants) == (library, wants)]
        yield f"{library}-{wants}s", part


def _compared(app: App, name: str, system: str, arguments: dict[str, Any]) -> Figure:
    made = [
        runs.run(app, name, _configuration(label, arguments, weighs=weighs), (METRIC,))
        for label, weighs in (("without weights", False), ("with weights", True))
    ]
    [compared] = app.database.call(
        "compare_evaluations", run_id=made[0]["run"], other_run_id=made[1]["run"], metric=METRIC
    )
    before, after = (each["metrics"][METRIC] for each in made)
    # What questions for announcements lose is told; no target makes it right.
    has_target = not name.endswith("announcements")
    return Figure(
        f"{METRIC} with weights of page types, without",
        f"{name}, {made[0]['queries']} queries, {system}",
        f"{after:.4f}, {before:.4f} ({compared['lower_bound']:+.4f} to"
        f" {compared['upper_bound']:+.4f}, p {compared['p_value']:.4f})",
        "≥ without" if has_target else "",
        after >= before if has_target else None,
    )


def _configuration(name: str, arguments: dict[str, Any], *, weighs: bool) -> Configuration:
    return Configuration(
        name,
        {"function": "search", "arguments": arguments, "settings": {"type_weights": weighs}},
    )


def _swept(app: App, sets: list[str]) -> str:
    """The metric of hybrid searches by weight, as Markdown."""
    [row] = app.database.call("configuration")
    shipped = {name: row["configuration"]["page_types"][name] for name in TYPES}
    rows = []
    try:
        for weight in WEIGHTS:
            _apply(
                app,
                {name: entry | {"retriever_weight": weight} for name, entry in shipped.items()},
            )
            made = (
                runs.run(app, name, _configuration(str(weight), {}, weighs=True), (METRIC,))
                for name in sets
            )
            rows.append([f"{weight:g}", *(f"{run['metrics'][METRIC]:.4f}" for run in made)])
    finally:
        _apply(app, shipped)
    return table(("weight", *sets), rows)


def _apply(app: App, entries: dict[str, Any]) -> None:
    app.database.call("apply_configuration", entries=json.dumps({"page_types": entries}))
