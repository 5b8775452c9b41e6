"""Libraries to tune: a page for each part of a workshop, and a question that it answers."""

from itertools import product
from typing import Any

import psycopg
from library import Row, document, ingest, page, run
from psycopg.types.json import Jsonb

MATERIALS = (
    "copper", "brass", "oak", "cedar", "glass", "rubber", "steel", "slate", "clay", "wool",
)  # fmt: skip
PARTS = (
    "valve", "filter", "hinge", "gauge", "spindle",
    "washer", "clamp", "funnel", "bracket", "piston",
)  # fmt: skip
TOPICS = [f"{material} {part}" for material, part in product(MATERIALS, PARTS)]


def key(topic: str) -> str:
    return f"parts/{topic.replace(' ', '-')}.md"


def text(topic: str) -> str:
    return (
        f"Before the season starts, look at the {topic} and write down what you see. Replace the"
        f" {topic} when it has lost its shape, and keep the old one for the inventory."
    )


def write(
    connection: psycopg.Connection, library: str = "workshop", *, titles: int = 0, **options: Any
) -> None:
    """Write a page for each topic, titled by the topic that stands so many places after it."""
    pages = [
        page(
            key(topic),
            document(text(topic), path=[title]),
            document("Tools go back to the wall when the work is done.", path=[title]),
            title=title,
            url=f"https://workshop.example/{place}",
        )
        for place, topic in enumerate(TOPICS)
        for title in [TOPICS[(place + titles) % len(TOPICS)]]
    ]
    ingest(connection, library, pages, language="simple", **({"embed": False} | options))


def judge(
    connection: psycopg.Connection,
    library: str = "workshop",
    name: str = "parts",
    source: dict[str, Any] | None = None,
) -> None:
    """Bring in a question for each topic as a labelled set."""
    queries = [{"id": t, "text": t, "judgements": {key(t): 1}} for t in TOPICS]
    run(
        connection, "import_evaluation_set",
        name=name, library=library, queries=Jsonb(queries), source=Jsonb(source or {}),
    )  # fmt: skip


def tune(connection: psycopg.Connection, library: str = "workshop", **arguments: Any) -> Row:
    [row] = run(connection, "tune", library=library, **arguments)
    return row


def point_elsewhere(connection: psycopg.Connection, library: str = "workshop") -> None:
    """Give the library a model that sees each page where the next topic is asked for."""
    size = len(TOPICS)
    run(connection, "register_model", name="crooked", dimensions=size, provider="custom")
    texts = run(connection, "pending_embeddings", library=library, model="crooked")
    place_of = {t: place for place, t in enumerate(TOPICS)}
    for row in texts:
        topic = next((t for t in TOPICS if f"the {t} and write" in row["text"]), None)
        where = (place_of[topic] + 1) % size if topic else 0
        connection.execute(
            "select pgrag.store_embeddings(%s, 'crooked', array[%s::uuid], array[%s::halfvec])",
            [library, row["text_hash"], unit(where if topic else None, size)],
        )
    for topic in TOPICS:
        connection.execute(
            "select pgrag.remember_query_vector(%s, 'crooked', %s::halfvec)",
            [topic, unit(place_of[topic], size)],
        )
    run(connection, "use_model", library=library, model="crooked")


def unit(place: int | None, size: int) -> str:
    """A vector along one axis, or along none of them in particular."""
    return str([0.1 if place is None else float(p == place) for p in range(size)])


def state(connection: psycopg.Connection) -> tuple[list[Row], list[Row]]:
    """Settings and impacts, to the last byte."""
    return (
        connection.execute(
            "select l.name, l.settings::text from pgrag.libraries as l order by l.name"
        ).fetchall(),
        connection.execute(
            "select i.document_id, i.weights::text, p.weights::text as page_weights"
            " from pgrag.impacts as i join pgrag.pages as p on p.page_id = i.page_id"
            " order by i.document_id"
        ).fetchall(),
    )
