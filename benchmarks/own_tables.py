"""What it costs to search a table of one's own: reading it, searching it, changing its rows.

    python -m benchmarks.own_tables --rows 100000

The tickets are made up, the same in every run. Times are processor time of the server's process
unless they say otherwise, so that other work on the machine disturbs little.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from benchmarks.bench import Connection, lent_app, value
from benchmarks.figures import table, told, write_between
from benchmarks.timing import by_turns, p50_p95

PAGE = Path(__file__).parents[1] / "docs" / "own-tables.md"
MARKS = (
    "<!-- own tables: made by `python -m benchmarks.own_tables` -->",
    "<!-- end of the figures -->",
)
QUERIES = 100
REPEATS = 40
TICKS = os.sysconf("SC_CLK_TCK")
WORDS = (
    "printer", "router", "invoice", "account", "backup", "screen", "password", "database",
    "service", "network", "laptop", "phone", "cable", "update", "window", "folder", "message",
    "calendar", "browser", "keyboard", "license", "report", "export", "import", "login",
    "server", "certificate", "queue", "storage", "monitor", "battery", "address", "contract",
    "order", "payment", "delivery", "customer",
)  # fmt: skip
#: Each word is also a family of rarer ones, so that there are about 40,000 of them.
TICKETS = """
create table public.{name} as
select
    g as id,
    format(
        '%s %s and %s',
        w.list[1 + g % n], w.list[1 + g / 7 % n], w.list[1 + g / 50 % n] || g % 997
    ) as subject,
    (
        select string_agg(
            format(
                'When I open the %s, the %s of %s stops and the %s shows %s.',
                w.list[1 + (g * s) % n], w.list[1 + (g / s) % n],
                w.list[1 + (g + s) % n] || g * s % 997,
                w.list[1 + (g / (s + 3)) % n], 'error ' || g * s % 5003
            ),
            ' '
        )
        from generate_series(1, 2 + g % 6) as s
    ) as body,
    (array['open', 'waiting', 'closed'])[1 + g % 3] as status,
    0 as views
from generate_series(1, {rows}) as g
cross join (select '{words}'::text[] as list, cardinality('{words}'::text[]) as n) as w
"""
SEARCH = "select s.key from pgrag.search({}) as s"
JOINED = """
select t.subject
from pgrag.search(%s, 'tickets', filters => '{"front_matter.status": "open"}') as s
join public.tickets as t on t.id = s.key::integer
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables and write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--page", type=Path, default=PAGE, help="where the tables go")
    options = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory(prefix="pgrag-tables-") as folder,
        lent_app(None, Path(folder)) as app,
        psycopg.connect(app.url, autocommit=True) as connection,
    ):
        rows = [*_read(app, connection, options.rows), *_searched(connection)]
        text = table((f"on {options.rows:,} tickets", "result"), rows)
        text += "\n\n" + _changes(connection)
    print(text)
    write_between(options.page, MARKS, text)
    return 0


def _read(app: Any, connection: Connection, count: int) -> list[tuple[str, str]]:
    for name in ("tickets", "twins"):
        statement = TICKETS.replace("{name}", name).replace("{rows}", str(count))
        words = f"{{{', '.join(WORDS)}}}"
        connection.execute(statement.replace("{words}", words).encode())
        connection.execute(f"alter table public.{name} add primary key (id)".encode())
    connection.execute("vacuum analyze public.tickets, public.twins")
    connection.execute(
        "select pgrag.index_table('public.tickets', title => 'subject', text => 'body',"
        " metadata => 'status')"
    )
    refresh = "select waiting from pgrag.refresh_table('tickets', rows => 5000)"
    with told("reading"):
        before = _seconds(connection)
        while value(connection, refresh):
            pass
        reading = _seconds(connection) - before
    with told("building the vector index"):
        app.embed("tickets")
    connection.execute("vacuum analyze")
    passages = value(connection, "select count(*) from pgrag.documents")
    rows = [
        ("read, cut, embedded and written the first time",
         f"{reading:,.0f} s, {1000 * reading / count:.1f} ms a row ({passages:,} passages)"),
    ]  # fmt: skip
    compare = "select written from pgrag.refresh_table('tickets', compare => true)"
    before = _seconds(connection)
    if value(connection, compare):
        raise SystemExit("A row that has not changed was written again.")
    rows.append(("all rows compared, none changed", f"{_seconds(connection) - before:.1f} s"))
    for changed in (1, 1000):
        connection.execute(
            "update public.tickets set body = body || ' Now it works.' where id <= %s", [changed]
        )
        before = _seconds(connection)
        written = value(connection, "select written from pgrag.refresh_table('tickets')")
        if written != changed:
            raise SystemExit(f"{written} of {changed} changed rows were written.")
        label = f"{changed:,} changed row{'s' * (changed > 1)} refreshed"
        rows.append((label, f"{1000 * (_seconds(connection) - before):,.0f} ms"))
    return rows


def _searched(connection: Connection) -> list[tuple[str, str]]:
    queries = [
        f"{WORDS[n % len(WORDS)]} {WORDS[n * 7 % len(WORDS)]} error {n * 31 % 5003}"
        for n in range(QUERIES)
    ]
    statements = {
        "search, hybrid": SEARCH.format("%s, 'tickets'"),
        "search with a filter that a third passes, joined": JOINED.replace("{{", "{").replace(
            "}}", "}"
        ),
    }
    calls: dict[str, Callable[[str], Any]] = {
        name: lambda query, text=text: connection.execute(text.encode(), [query]).fetchall()
        for name, text in statements.items()
    }
    rows = []
    for name, call in calls.items():
        with told(name):
            by_turns({name: call}, queries[:20])
            before = _seconds(connection)
            [times] = by_turns({name: call}, queries).values()
            spent = 1000 * (_seconds(connection) - before) / QUERIES
        rows.append((name, f"{spent:.0f} ms ({p50_p95(times)[0]:.0f} ms elapsed at the median)"))
    return rows


def _changes(connection: Connection) -> str:
    """Statements on the watched table and on its twin without triggers, by turns, rolled back."""
    changes = {
        "insert a row": "insert into public.{} select max(id) + 1, 'a', 'b', 'open' from public.{}",
        "update an indexed column of a row": "update public.{} set subject = 'x' where id = 77",
        "update another column of a row": "update public.{} set views = views + 1 where id = 77",
        "insert 10,000 rows":
            "insert into public.{} select 900000 + g, 'a', 'b', 'open'"
            " from generate_series(1, 10000) as g",
        "update 10,000 rows": "update public.{} set subject = 'x' where id <= 10000",
    }  # fmt: skip
    rows = []
    for name, statement in changes.items():
        with told(name):
            repeats = 5 if "10,000" in name else REPEATS * 5
            costs: dict[str, list[float]] = {"twins": [], "tickets": []}
            for _ in range(repeats):
                for source, spent in costs.items():
                    spent.append(_rolled_back(connection, statement.replace("{}", source)))
        plain, watched = median(costs["twins"]), median(costs["tickets"])
        rows.append((name, f"{plain:.2f} ms", f"{watched:.2f} ms"))
    return table(("elapsed, at the median", "without triggers", "with triggers"), rows)


def _rolled_back(connection: Connection, statement: str) -> float:
    """Milliseconds of a statement as the server measures them."""
    with connection.transaction(force_rollback=True):
        plan = value(connection, f"explain (analyze, format json) {statement}")
    return float(plan[0]["Execution Time"])


def _seconds(connection: Connection) -> float:
    """Processor time of the server's process of this connection."""
    process = Path(f"/proc/{connection.info.backend_pid}/stat").read_text()
    fields = process.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


if __name__ == "__main__":
    sys.exit(main())
