"""SciFact: the keyword arm against bare `ts_rank`, on a labelled set that others publish on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.bench import Bench
from benchmarks.figures import Figure
from benchmarks.quality import ndcg

DEPTH = 10
SEARCH = b"""
select s.key
from pgrag.keyword_search(%s, 'scifact', match_count => %s, max_per_page => 1) as s
"""
# One row a page, title and text in one vector: what PostgreSQL offers without further thought.
BARE = b"""
create temporary table bare as
select p.key, to_tsvector('english', p.title || ' ' || p.body) as words
from pgrag.pages as p
join pgrag.libraries as l on l.library_id = p.library_id
where l.name = 'scifact';
create index on bare using gin (words);
analyze bare;
"""
BARE_SEARCH = b"""
select b.key
from bare as b,
    (select replace(plainto_tsquery('english', %s)::text, '&', '|')::tsquery as words) as q
where b.words @@ q.words
order by ts_rank(b.words, q.words) desc, b.key
limit %s
"""


def keyword_arm(bench: Bench) -> list[Figure]:
    """nDCG@10 of both, a page for each abstract."""
    labelled = bench.corpora.labelled("scifact")
    bench.require("scifact", _pages(bench, bench.scratch / "scifact-pages"))
    queries = bench.sample([q for q in labelled.queries if q in labelled.relevant], 1000)
    ours = theirs = 0.0
    with bench.connect() as connection:
        connection.execute(BARE)
        for query in queries:
            text, relevant = labelled.queries[query], labelled.relevant[query]
            ours += ndcg(_keys(connection, SEARCH, text), relevant, DEPTH)
            theirs += ndcg(_keys(connection, BARE_SEARCH, text), relevant, DEPTH)
    on = f"SciFact, {len(queries)} queries"
    reached = ours / len(queries)
    return [
        Figure("keyword arm alone: nDCG@10", on, f"{reached:.3f}", "≥ 0.66", reached >= 0.66),
        Figure("— bare ts_rank, words joined by OR", on, f"{theirs / len(queries):.3f}"),
    ]


def _pages(bench: Bench, folder: Path) -> Path:
    folder.mkdir()
    for record in bench.corpora.records("scifact"):
        # A JSON string is a YAML string.
        title = json.dumps(record["title"])
        text = f"---\ntitle: {title}\n---\n\n{record['text']}\n"
        (folder / f"{record['_id']}.md").write_text(text, encoding="utf-8")
    return folder


def _keys(
    connection: psycopg.Connection[tuple[Any, ...]], statement: bytes, text: str
) -> list[str]:
    rows = connection.execute(statement, [text, DEPTH]).fetchall()
    return [key.removesuffix(".md") for (key,) in rows]
