"""Restore a dump on another server.

A restored database must have the same rows,
definitions and policies, and must answer hostile calls as the original does.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from campaign import contents, corpus, tenants
from campaign.functions import callers, chosen_arguments
from campaign.outcome import Outcome, turns
from campaign.servers import temporary_server
from pgrag.cli.dump import portable
from pgrag.ground import schema
from pgrag.ground.embedded import binary

#: A table of times, and those that a dump leaves out: tables of the user are not in it.
OTHERWISE = ("installed_functions", "indexed_tables", "changed_rows")
#: Functions whose answers depend on those tables.
OF_TABLES = {"index_table", "indexed_tables", "refresh_table"}
QUERIES = ["close the valve", "install pump", "Ventil", "type:guide valve", '"the wheel"', "насос"]


def definitions(url: str) -> str:
    """Everything in the schemas as SQL; pg_dump orders it by name."""
    dumped = subprocess.run(
        [
            binary("pg_dump"),
            "--schema-only",
            "--schema=pgrag",
            "--schema=_pgrag",
            f"--dbname={url}",
        ],
        capture_output=True,
        check=True,
    )
    told = b"".join(portable(dumped.stdout.splitlines(keepends=True))).decode()
    # A key of each dump, and the versions of server and program.
    return re.sub(r"(?m)^(\\(un)?restrict|-- Dumped) .*$", "", told)


def restore(url: str, into: str) -> None:
    """Dump a database as the command line does, and read the dump into an empty one."""
    dumped = subprocess.run(
        [sys.executable, "-m", "pgrag", "db", "dump"],
        env={**os.environ, "PGRAG_DATABASE_URL": url},
        capture_output=True,
        check=True,
    )
    subprocess.run(
        [binary("psql"), "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--dbname={into}"],
        input=dumped.stdout,
        capture_output=True,
        check=True,
    )
    schema.upgrade(into)


def compared(url: str, other: str) -> list[str]:
    """What differs between a database and its restored dump."""
    rows = [contents.rows(u, without=OTHERWISE) for u in (url, other)]
    faults = contents.differences(*rows)
    before, after = definitions(url), definitions(other)
    if before != after:
        lost, added = Counter(before.splitlines()), Counter(after.splitlines())
        faults.append(f"definitions: {[*lost - added][:5]} became {[*added - lost][:5]}")
    hits = [contents.searches(u, QUERIES) for u in (url, other)]
    if hits[0] != hits[1]:
        faults.append(f"searches: {hits[0]} became {hits[1]}"[:2000])
    return faults


def _calls(
    url: str, other: str, known: dict[str, list[Any]], asked: Iterator[int], random: Random
) -> Iterator[str]:
    """What differs in each call of the restored database; empty if nothing does."""
    called, arguments = callers(url, random, known)
    called = [routine for routine in called if routine.name not in OF_TABLES]
    pair = tenants.Pair("the owner", url, other, [])
    try:
        for number in asked:
            routine = called[number % len(called)]
            statement = routine.statement(chosen_arguments(routine, arguments))
            told, _ = pair.difference(f"select to_jsonb(answer) from ({statement}) as answer")
            yield f"{told}\n{statement[:1500]};" if told else ""
    finally:
        pair.close()


def run(
    url: str, *, count: int = 2000, seed: int, minutes: float | None = None, data: object = None
) -> Outcome:
    """Fill a migrated, empty database, and restore it on another server."""
    asked = turns(count, minutes)
    known = corpus.build(url)
    with temporary_server() as app:
        restore(url, app.url)
        faults = [f"restored: {told}" for told in compared(url, app.url)]
        rows = contents.rows(app.url)
        told = [*_calls(url, app.url, known, asked, Random(seed))]
    total = sum(of_table.total() for of_table in rows.values())
    counts = {"tables": len(rows), "rows": total, "calls of both": len(told)}
    return Outcome("restore", counts, [*faults, *filter(None, told)])
