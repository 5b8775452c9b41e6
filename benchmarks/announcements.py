"""What the weights of page types change: questions that guides answer, and that ask for news.

The questions of announcements.jsonl want a `guide` (a page that an announcement competes with) or
an `announcement` (a post or release notes). They were written before any search of theirs was
looked at, and had no part in the choice of the weight. The words that ask for announcements are by
the same author, who knew them.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench, settle
from benchmarks.figures import Figure
from benchmarks.quality import compare, import_queries
from pgrag.evaluation import labelled
from pgrag.evaluation.runs import Configuration
from pgrag.service.app import App

LABELLED = Path(__file__).with_name("announcements.jsonl")
SYSTEMS: dict[str, dict[str, Any]] = {
    "hybrid": {}, "keyword": {"mode": "keyword"}, "rrf": {"fusion": "rrf"}
}  # fmt: skip
#: The shipped types whose weight is below 1.
TYPES = ("blog", "release-notes")
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
    """Ask the questions with and without weights."""
    with bench.app() as app:
        return [
            _compared(app, name, system, arguments)
            for name in _import(app, bench)
            for system, arguments in SYSTEMS.items()
        ]


def _import(app: App, bench: Bench) -> list[str]:
    """Index the corpora and import the sets; return their names."""
    labelled.import_set(
        app, ANCHORS, bench.corpora.folder(ANCHORS), corpus=bench.corpora.pages("k8s-en")
    )
    libraries = {
        "k8s-en": labelled.library_of(ANCHORS),
        "mdn-en": bench.mdn(),
        "fastapi-en": bench.require("fastapi-en", bench.corpora.pages("fastapi-en")),
    }
    sets: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for each in read():
        query = {"id": each.id, "text": each.text, "judgements": each.relevant}
        sets.setdefault((each.library, each.wants), []).append(query)
    for (library, wants), queries in sets.items():
        import_queries(app, f"{library}-{wants}s", libraries[library], queries)
    settle(bench.url)
    return [ANCHORS, *(f"{library}-{wants}s" for library, wants in sets)]


def _compared(app: App, name: str, system: str, arguments: dict[str, Any]) -> Figure:
    before, after = (
        Configuration(
            f"{system}, weights {weighs}",
            {"function": "search", "arguments": arguments, "settings": {"type_weights": weighs}},
        )
        for weighs in (False, True)
    )
    # Questions for announcements may lose: no target.
    return compare(app, name, before, after).figure(
        "weights of page types", f", {system}", has_target=not name.endswith("announcements")
    )
