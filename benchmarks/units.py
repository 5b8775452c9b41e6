"""How often ten rows contain the answer: as passages, and as pages."""

import json
from collections.abc import Callable

import numpy as np

from benchmarks.bench import Bench, Connection
from benchmarks.figures import Figure
from pgrag.evaluation.labelled import LabelledQuery, read_labelled_set

ROWS = 10
SEARCH = """
select s.key, s.anchor
from pgrag.search(
    %s, %s, top_k => 40, unit => %s, aggregate => %s, intent => 'off'
) as s
"""
#: Units and aggregates by name.
SHOWN = {
    "passages": ("document", "max"),
    "pages by max": ("page", "max"),
    "pages by mean": ("page", "mean"),
    "pages by rrf": ("page", "rrf"),
}
#: The folders of the pages that each intent asks for.
FOLDERS = {
    "EXPLORATORY": ("docs/concepts/",),
    "PROCEDURAL": ("docs/tasks/", "docs/tutorials/", "docs/setup/"),
}

Hit = tuple[str, str | None]


def in_ten_rows(bench: Bench) -> list[Figure]:
    """Count the queries whose page, and whose section, is in the first ten rows.

    The queries are link texts of Kubernetes; a section is that of the link's fragment.
    """
    folder = bench.corpora.folder("k8s-anchor")
    library = bench.require("k8s", bench.corpora.pages("k8s-en"))
    queries = read_labelled_set(folder).queries
    sections = _sections((folder / "queries.jsonl").read_text("utf-8"))
    figures = []
    for intent, folders in FOLDERS.items():
        asked = bench.sample([q for q in queries if any(
            target.startswith(folders) for target in q.judgements
        )], len(queries))  # fmt: skip
        placed = [q for q in asked if sections.get(q.id)]
        for name, (unit, aggregate) in SHOWN.items():
            with bench.connect() as connection:
                hits = {q.id: _rows(connection, library, q, unit, aggregate) for q in asked}
            pages = _share(asked, lambda q, h=hits: any(k in q.judgements for k, _ in h[q.id]))
            named = _share(placed, lambda q, h=hits: bool(sections[q.id] & set(h[q.id])))
            figures += [
                Figure(f"{intent}: page in ten rows, {name}", f"{len(asked)} queries", pages),
                Figure(f"{intent}: section in ten rows, {name}", f"{len(placed)} queries", named),
            ]
    return figures


def _rows(
    connection: Connection, library: str, query: LabelledQuery, unit: str, aggregate: str
) -> list[Hit]:
    quoting = set(query.excluded) - set(query.judgements)
    hits = connection.execute(SEARCH.encode(), [query.text, library, unit, aggregate]).fetchall()
    return [hit for hit in hits if hit[0] not in quoting][:ROWS]


def _sections(queries: str) -> dict[str, set[Hit]]:
    """The sections that the links with the text of a query lead to, by the query's id."""
    records = [json.loads(line) for line in queries.splitlines()]
    return {
        record["_id"]: {
            (target["id"], fragment)
            for target in record.get("metadata", {}).get("targets", ())
            for fragment in target["fragments"]
        }
        for record in records
    }


def _share(queries: list[LabelledQuery], holds: Callable[[LabelledQuery], bool]) -> str:
    return f"{np.mean([holds(query) for query in queries]):.1%}" if queries else "—"
