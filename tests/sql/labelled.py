"""A library of a few pages, with questions that have known answers."""

from typing import Any

import psycopg
from library import Row, document, ingest, page, run
from psycopg.types.json import Jsonb

PAGES = [
    page(
        "cellar/barrels.md",
        document("Oak barrels breathe; top them up each month.", anchor="top-up"),
        document("A barrel that leaks is soaked for two days.", anchor="leaks"),
    ),
    page("cellar/yeast.md", "Yeast stops below ten degrees; warm the must before you pitch it."),
    page("cellar/bottles.md", "Bottles are rinsed, drained and filled to the neck."),
    page("field/pruning.md", "Prune vines in late winter, two buds a spur."),
    page("field/barrels.md", "Rain barrels water young vines; clean the barrels each spring."),
]
QUERIES = [
    {"id": "q1", "text": "leaking barrel", "judgements": {"cellar/barrels.md": 2}},
    {
        "id": "q2",
        "text": "clean barrels",
        "judgements": {"field/barrels.md": 1, "cellar/bottles.md": 0},
        "excluded": ["cellar/barrels.md"],
    },
    {"id": "q3", "text": "too cold for yeast", "judgements": {"cellar/yeast.md": 1}},
]


def labelled_library(connection: psycopg.Connection, name: str = "winery") -> None:
    """The pages as library `winery`, the questions as set `questions`."""
    ingest(connection, name, PAGES, language="en")
    import_set(connection)


def import_set(
    connection: psycopg.Connection, queries: list[Row] | None = None, **arguments: Any
) -> Row:
    """Import questions, by default those above."""
    given = {"name": "questions", "library": "winery"} | arguments
    queries = QUERIES if queries is None else queries
    [row] = run(connection, "import_evaluation_set", queries=Jsonb(queries), **given)
    return row


def evaluate(connection: psycopg.Connection, **arguments: Any) -> int:
    """Run the set; the id of the run."""
    given = {"evaluation_set": "questions"} | arguments
    [row] = run(connection, "run_evaluation", **given)
    return int(row["run_evaluation"])


def returned(connection: psycopg.Connection, run_id: int) -> dict[str, list[str]]:
    """The targets that a run kept, best first, by query."""
    rows = connection.execute(
        "select r.query_id, array_agg(r.target order by r.rank) as targets"
        " from pgrag.evaluation_results as r where r.run_id = %s group by r.query_id",
        [run_id],
    ).fetchall()
    return {row["query_id"]: row["targets"] for row in rows}


def metrics(connection: psycopg.Connection, run_id: int, *names: str) -> dict[str, float]:
    """Averages of a run."""
    given = {"metrics": list(names)} if names else {}
    rows = run(connection, "evaluation_metrics", run_id=run_id, **given)
    return {row["metric"]: row["score"] for row in rows}
