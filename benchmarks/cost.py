"""What searches read, without a clock: blocks, and rows whose scores are computed.

    python -m benchmarks.cost            # compare with benchmarks/cost.json
    python -m benchmarks.cost --update   # write it anew, after a change that is worth its cost

The corpus is made up by chance with a fixed seed: two runs on the same PostgreSQL differ by a few
blocks in a thousand, because the levels of the HNSW index and the order of writing vary.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from pydantic import SecretStr

from benchmarks.figures import table
from pgrag.ground.embedded import EmbeddedServer
from pgrag.ground.settings import Settings
from pgrag.service.app import App

BASELINE = Path(__file__).with_name("cost.json")
GROWTH = 1.05
"""More than this is no chance."""
LIBRARY = "manual"
PAGES = 1500
QUERIES = 40

SEARCHES = {
    "search": "select * from pgrag.search(%(query)s, 'manual')",
    "keyword_search": "select * from pgrag.keyword_search(%(query)s, 'manual')",
    "semantic_search": "select * from pgrag.semantic_search(%(query)s, 'manual')",
    "search with a filter": "select * from pgrag.search(%(query)s, 'manual',"
    """ filters => '{"tags": "even"}')""",
    "search in few pages": "select * from pgrag.search(%(query)s, 'manual',"
    """ filters => '{"type": "recipe"}')""",
    "search with links": "select * from pgrag.search(%(query)s, 'manual', graph => true)",
    "search_pages": "select * from pgrag.search_pages(%(query)s, 'manual')",
    "context": "select * from pgrag.context(%(query)s, 'manual')",
    "answer_context": "select * from pgrag.answer_context(%(query)s, library => 'manual')",
    "facets": "select * from pgrag.facets(%(query)s, 'manual')",
}
BY_HNSW = {f"{what} by HNSW": SEARCHES[what] for what in ("search", "semantic_search")}

_SCORED = """
select coalesce(sum(f.calls), 0)::bigint
from pg_stat_user_functions as f
where f.funcname in ('sparsevec_negative_inner_product', 'halfvec_negative_inner_product')
"""


class Cost(NamedTuple):
    """Means of a query: blocks of 8 kB that were read, and products of vectors."""

    blocks: float
    scored: float


def measure(url: str) -> dict[str, Cost]:
    """The cost of each kind of search, in an empty database of a server without autovacuum."""
    _fill(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")
        costs = {what: _cost(connection, search) for what, search in SEARCHES.items()}
        connection.execute(
            "select pgrag.configure_library('manual', settings => '{\"exact_limit\": 1000}')"
        )
        costs |= {what: _cost(connection, search) for what, search in BY_HNSW.items()}
    return costs


def grown(costs: dict[str, Cost], baseline: dict[str, Cost]) -> list[str]:
    """What costs more than it did, one line each."""
    return [
        f"{what}: {unit} {before:,.0f} -> {now:,.0f}"
        for what, cost in costs.items()
        for unit, before, now in zip(Cost._fields, baseline[what], cost, strict=True)
        if now > before * GROWTH
    ]


def read_baseline() -> dict[str, Cost]:
    """The costs that were accepted."""
    return {what: Cost(*cost) for what, cost in json.loads(BASELINE.read_text()).items()}


def _cost(connection: psycopg.Connection[Any], search: str) -> Cost:
    queries = list(_queries())
    for query in queries:  # plans and catalogs are in the session's caches afterwards
        connection.execute(search.encode(), {"query": query})
    blocks = sum(_blocks(connection, search, query) for query in queries)
    connection.execute("select pg_stat_reset()")
    connection.execute("set track_functions = 'all'")
    for query in queries:
        connection.execute(search.encode(), {"query": query})
    connection.execute("reset track_functions")
    connection.execute("select pg_stat_force_next_flush()")
    [[scored]] = connection.execute(_SCORED).fetchall()
    return Cost(round(blocks / len(queries), 1), round(scored / len(queries), 1))


def _blocks(connection: psycopg.Connection[Any], search: str, query: str) -> int:
    explained = f"explain (analyze, buffers, timing off, format json) {search}"
    [[[plan]]] = connection.execute(explained.encode(), {"query": query}).fetchall()
    return int(plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"])


def _fill(url: str) -> None:
    with tempfile.TemporaryDirectory(prefix="pgrag-cost-") as folder:
        for key, text in _pages():
            Path(folder, key).write_text(text)
        settings = Settings(database_url=SecretStr(url), embedding_url=None)
        with App(settings) as app:
            app.upgrade()
            app.index(LIBRARY, "", folder)


def _words() -> list[str]:
    """Made-up words, the frequent ones first."""
    dice = random.Random(1)
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    return ["".join(dice.choices(syllables, k=dice.choice((2, 3, 3, 4)))) for _ in range(6000)]


def _pages() -> Iterator[tuple[str, str]]:
    """Keys and Markdown: sections about a few words each, with links to near pages."""
    words = _words()
    dice = random.Random(2)
    weights = [1 / (place + 10) for place in range(len(words))]
    for number in range(PAGES):
        subject = dice.choices(words, k=4)
        title = " ".join(subject[:2])
        parity = "odd" if number % 2 else "even"
        kind = "note" if number % 25 else "recipe"
        parts = [f"---\ntitle: {title}\ntags: [{parity}]\ntype: {kind}\n---"]
        for _ in range(dice.randint(2, 6)):
            text = dice.choices(words, weights, k=dice.randint(30, 90)) + subject
            dice.shuffle(text)
            near = (number + dice.choice((1, 2, 3, 10, 100))) % PAGES
            parts += [f"## {' '.join(text[:3])}", f"{' '.join(text)} [{text[0]}](page-{near}.md)."]
        yield f"page-{number}.md", "\n\n".join(parts)


def _queries() -> Iterator[str]:
    """Half of them titles of pages, half of them rare and frequent words."""
    words = _words()
    dice = random.Random(3)
    titles = [text.split("\n")[1].removeprefix("title: ") for _, text in _pages()]
    for number in range(QUERIES):
        if number % 2:
            yield dice.choice(titles)
        else:
            yield " ".join([*dice.choices(words[:300], k=3), *dice.choices(words[300:], k=3)])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the costs; exit status 1 if one has grown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost", description=__doc__)
    parser.add_argument("--update", action="store_true", help=f"write {BASELINE.name}")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="pgrag-cost-") as folder:
        Path(folder).chmod(0o711)  # a server that root starts runs as another user
        server = EmbeddedServer(Path(folder) / "server")
        try:
            url = server.start()
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("alter system set autovacuum = off")
                connection.execute("select pg_reload_conf()")
            costs = measure(url)
        finally:
            server.remove()
    baseline = {} if options.update else read_baseline()
    print(
        table(
            ("a query of", "blocks", "accepted", "vectors compared", "accepted"),
            [
                [what, f"{cost.blocks:,.0f}", *_of(baseline, what, 0), f"{cost.scored:,.0f}",
                 *_of(baseline, what, 1)]
                for what, cost in costs.items()
            ],
        )
    )  # fmt: skip
    if options.update:
        BASELINE.write_text(json.dumps(costs, indent=1) + "\n")
        return 0
    worse = grown(costs, baseline)
    print(*worse, sep="\n", file=sys.stderr)
    return 1 if worse else 0


def _of(baseline: dict[str, Cost], what: str, place: int) -> list[str]:
    return [f"{baseline[what][place]:,.0f}" if what in baseline else ""]


if __name__ == "__main__":
    sys.exit(main())
