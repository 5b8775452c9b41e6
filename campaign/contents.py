"""What databases hold, in a form that can be compared."""

import json
import re
from collections import Counter
from collections.abc import Collection
from typing import Any

import psycopg

TABLES = """
select
    c.relname,
    exists (
        select
        from pg_attribute as a
        where a.attrelid = c.oid and a.attname = 'library_id' and not a.attisdropped
    )
from pg_class as c
where c.relnamespace = 'pgrag'::regnamespace and c.relkind = 'r'
order by 1
"""
#: Ids, times and locations of sources differ between two runs; bounds, averages and keywords
#: depend on what was in the library before.
_HISTORY = re.compile(
    r"(_id|_at|_ids)$"
    r"|^(at|candidates|largest_impact|average_length|weights|ranked_links|source|keywords)$"
)
#: Tables that indexing does not write.
OF_ITS_OWN = {"libraries", "search_hits", "tuning_runs", "role_libraries"}
#: Tables that keep the statistics of words without passages.
_EMPTY = {"lexeme_statistics", "corpus_statistics"}


def rows(url: str, *, without: Collection[str] = ()) -> dict[str, Counter[str]]:
    """All rows of every table."""
    with psycopg.connect(url) as connection:
        return {
            table: _rows(connection, f"select to_jsonb(t) from pgrag.{table} as t")
            for table, _ in connection.execute(TABLES.encode()).fetchall()
            if table not in without
        }


def of_library(url: str, library: str) -> dict[str, Counter[str]]:
    """The rows of one library without what depends on its history: ids, times, bounds."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(TABLES.encode()).fetchall()
        return {
            table: _rows(
                connection,
                f"select to_jsonb(t) from pgrag.{table} as t"
                " join pgrag.libraries as l using (library_id)"
                f" where l.name = '{library}'"
                + (" and t.document_count > 0" if table in _EMPTY else ""),
                is_history_kept=False,
            )
            for table, has_library in tables
            if has_library and table not in OF_ITS_OWN
        }


def _rows(
    connection: psycopg.Connection[Any], query: str, *, is_history_kept: bool = True
) -> Counter[str]:
    counted: Counter[str] = Counter()
    for (row,) in connection.execute(query.encode()).fetchall():
        kept = {k: v for k, v in row.items() if is_history_kept or not _HISTORY.search(k)}
        counted[json.dumps({k: _rounded(v) for k, v in kept.items()}, sort_keys=True)] += 1
    return counted


def _rounded(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def differences(expected: dict[str, Counter[str]], held: dict[str, Counter[str]]) -> list[str]:
    """A line for each table whose rows differ, with an example of either side."""
    lines = []
    for table in sorted({*expected, *held}):
        lost = expected.get(table, Counter()) - held.get(table, Counter())
        added = held.get(table, Counter()) - expected.get(table, Counter())
        if lost or added:
            lines.append(
                f"{table}: {lost.total()} rows lost, {added.total()} added:"
                f" {next(iter(lost), '')[:400]} / {next(iter(added), '')[:400]}"
            )
    return lines


def problems(url: str, library: str) -> list[str]:
    """What `check_library` reports."""
    with psycopg.connect(url) as connection:
        rows = connection.execute("select * from pgrag.check_library(%s)", [library]).fetchall()
    return [f"check_library: {row}" for row in rows]


def searches(url: str, queries: Collection[str]) -> list[Any]:
    """The hits of searches, by names and not by ids."""
    with psycopg.connect(url) as connection:
        return [
            connection.execute(
                "select s.library, s.version, s.key, s.anchor, round(s.score::numeric, 5)::text"
                " from pgrag.search(%s) as s order by s.score desc, s.library, s.key, s.anchor",
                [query],
            ).fetchall()
            for query in queries
        ]
