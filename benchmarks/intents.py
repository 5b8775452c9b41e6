"""The accuracy of the rules for intents and types on labelled questions, and what they confuse."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import yaml
from psycopg.rows import tuple_row

from benchmarks.bench import Bench
from benchmarks.figures import Figure, judged, table

LABELLED = Path(__file__).parents[1] / "tests" / "fixtures" / "intents.yaml"
#: The least share of questions with the right intent and the right type.
LEAST = {"development": 0.95, "held_out": 0.7, "wordings_open": 0.95, "wordings_held": 0.9}
DETECTED = """
select d.intent, d.query_type
from unnest(%s::text[]) with ordinality as q (query, number)
cross join lateral pgrag.detect_intent(q.query) as d
order by q.number
"""


class Label(NamedTuple):
    """What a person or a rule says about a question."""

    intent: str
    query_type: str


Questions = dict[str, Label]


def labelled() -> dict[str, Questions]:
    """The labelled questions of each part of the file."""
    parts = yaml.safe_load(LABELLED.read_text("utf-8"))
    return {
        part: {query: Label(intent, query_type) for query, intent, query_type in entries}
        for part, entries in parts.items()
    }


def detected(connection: psycopg.Connection[Any], queries: Sequence[str]) -> list[Label]:
    """What the rules say, query by query."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        rows = cursor.execute(DETECTED.encode(), [list(queries)]).fetchall()
    return [Label(*row) for row in rows]


def accuracy(labels: Sequence[object], said: Sequence[object]) -> float:
    """The share of equal pairs."""
    return sum(a == b for a, b in zip(labels, said, strict=True)) / len(labels)


def confusion(field: str, labels: Sequence[Label], said: Sequence[Label]) -> str:
    """A confusion matrix as Markdown: a row is what a person says, a column what the rules say."""
    counts = Counter(
        (getattr(a, field), getattr(b, field)) for a, b in zip(labels, said, strict=True)
    )
    names = sorted({name for pair in counts for name in pair})
    return table(
        (field.replace("_", " "), *names),
        [(row, *(str(counts[row, column] or "·") for column in names)) for row in names],
    )


def rules(bench: Bench) -> list[Figure]:
    """Detect every labelled question; print the confusion matrices of each half."""
    figures = []
    with bench.connect() as connection:
        for part, least in LEAST.items():
            questions = labelled()[part]
            labels = list(questions.values())
            on = f"{part}, {len(labels)} questions"
            said = detected(connection, list(questions))
            for field in Label._fields:
                print(f"{part}\n\n{confusion(field, labels, said)}\n", flush=True)
                right = accuracy([getattr(x, field) for x in labels],
                                 [getattr(x, field) for x in said])  # fmt: skip
                figures.append(Figure(f"{field.replace('_', ' ')} detected", on, f"{right:.1%}"))
            figures.append(judged("intent and query type detected", on,
                                  100 * accuracy(labels, said), 100 * least, "%",
                                  is_least=True))  # fmt: skip
    return figures
