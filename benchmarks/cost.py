"""What searches read, independent of the clock: blocks, and compared vectors.

    python -m benchmarks.cost            # compare with benchmarks/cost.json
    python -m benchmarks.cost --update   # write it anew, after a change that is worth its cost

The corpus is made up with a fixed seed: two runs on the same PostgreSQL differ by a few blocks in a
thousand, because the levels of the HNSW index and the order of writing vary.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.bench import settings
from benchmarks.figures import read_json, table, write_json
from pgrag.service.app import App

BASELINE = Path(__file__).with_name("cost.json")
#: Runs of the same code differ by less.
GROWTH = 1.05
LIBRARY = "manual"
PAGES = 1500
QUERIES = 40

SEARCHES = {
    "search": "pgrag.search(%(query)s, 'manual')",
    "keyword_search": "pgrag.keyword_search(%(query)s, 'manual')",
    "semantic_search": "pgrag.semantic_search(%(query)s, 'manual')",
    "search with a filter": """pgrag.search(%(query)s, 'manual', filters => '{"tags": "even"}')""",
    "search in few pages": """pgrag.search(%(query)s, 'manual', filters => '{"type": "recipe"}')""",
    "search with links": "pgrag.search(%(query)s, 'manual', graph => true)",
    "search_pages": "pgrag.search_pages(%(query)s, 'manual')",
    "context": "pgrag.context(%(query)s, 'manual')",
    "answer_context": "pgrag.answer_context(%(query)s, library => 'manual')",
    "facets": "pgrag.facets(%(query)s, 'manual')",
}
BY_HNSW = {f"{what} by HNSW": SEARCHES[what] for what in ("search", "semantic_search")}

_COMPARED = """
select coalesce(sum(f.calls), 0)::bigint
from pg_stat_user_functions as f
where f.funcname in ('sparsevec_negative_inner_product', 'halfvec_negative_inner_product')
"""

Cost = dict[str, float]
"""Means of a query: `blocks` of 8 kB that were read, and `vectors` that were compared."""


def measure(url: str) -> dict[str, Cost]:
    """The cost of each kind of search, in an empty database of a server without autovacuum."""
    with tempfile.TemporaryDirectory(prefix="pgrag-cost-") as folder, App(settings(url)) as app:
        for key, text in _pages():
            Path(folder, key).write_text(text)
        app.upgrade()
        app.index(LIBRARY, "", folder)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")
        costs = {what: _cost(connection, search) for what, search in SEARCHES.items()}
        connection.execute(
            "select pgrag.configure_library('manual', settings => '{\"exact_limit\": 1000}')"
        )
        return costs | {what: _cost(connection, search) for what, search in BY_HNSW.items()}


def grown(costs: dict[str, Cost], baseline: dict[str, Cost]) -> list[str]:
    """What costs more than it did, one line each."""
    return [
        f"{what}: {unit} {baseline[what][unit]:,.0f} -> {now:,.0f}"
        for what, cost in costs.items()
        for unit, now in cost.items()
        if now > baseline[what][unit] * GROWTH
    ]


def _cost(connection: psycopg.Connection[Any], search: str) -> Cost:
    statement = f"select * from {search}".encode()
    explained = b"explain (analyze, buffers, timing off, format json) " + statement
    queries = [{"query": query} for query in _queries()]
    for query in queries:  # plans and catalogs are in the session's caches afterwards
        connection.execute(statement, query)
    blocks = 0
    for query in queries:
        [[[plan]]] = connection.execute(explained, query).fetchall()
        blocks += plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]
    connection.execute("select pg_stat_reset()")
    connection.execute("set track_functions = 'all'")
    for query in queries:
        connection.execute(statement, query)
    connection.execute("reset track_functions")
    connection.execute("select pg_stat_force_next_flush()")
    [[compared]] = connection.execute(_COMPARED).fetchall()
    return {"blocks": round(blocks / QUERIES, 1), "vectors": round(compared / QUERIES, 1)}


def _words() -> list[str]:
    """Made-up words, the frequent ones first."""
    dice = random.Random(1)
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    return ["".join(dice.choices(syllables, k=dice.choice((2, 3, 3, 4)))) for _ in range(6000)]


def _pages() -> Iterator[tuple[str, str]]:
    """Keys and Markdown: sections about a few words each, with links to near pages."""
    words = _words()
    dice = random.Random(2)
    weights = [1 / (rank + 10) for rank in range(len(words))]
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
        with App(settings(None, home=Path(folder))) as app:
            try:
                with psycopg.connect(app.url, autocommit=True) as connection:
                    connection.execute("alter system set autovacuum = off")
                    connection.execute("select pg_reload_conf()")
                costs = measure(app.url)
            finally:
                app.close()
                app.server.remove()
    if options.update:
        write_json(BASELINE, costs)
    baseline = read_json(BASELINE)
    rows = [
        [
            what,
            *(f"{number:,.0f}" for unit in cost for number in (cost[unit], baseline[what][unit])),
        ]
        for what, cost in costs.items()
    ]
    print(table(("a query of", "blocks", "accepted", "vectors compared", "accepted"), rows))
    worse = grown(costs, baseline)
    print(*worse, sep="\n", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
