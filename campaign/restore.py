"""Restore a dump on another server.

`python -m campaign.restore --calls 2000 --seed 1`. A restored database must have the same rows,
definitions and policies, and must answer hostile calls as the original does.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from random import Random
from time import monotonic
from typing import Any

import psycopg

from campaign import contents, corpus, tenants
from campaign.arguments import Arguments
from campaign.command import run_part, temporary_server
from campaign.functions import chosen_arguments, options_of, routines
from campaign.outcome import Outcome
from pgrag.cli.dump import portable
from pgrag.ground import schema
from pgrag.ground.embedded import binary

#: When functions were installed.
OTHERWISE = ("installed_functions",)
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


def _first_difference(expected: str, found: str) -> str:
    lost = Counter(expected.splitlines()) - Counter(found.splitlines())
    added = Counter(found.splitlines()) - Counter(expected.splitlines())
    return f"{[*lost][:5]} became {[*added][:5]}"


def compared(url: str, other: str) -> list[str]:
    """What differs between a database and its restored dump."""
    rows = [contents.rows(u, without=OTHERWISE) for u in (url, other)]
    faults = contents.differences(*rows)
    before, after = definitions(url), definitions(other)
    if before != after:
        faults.append(f"definitions: {_first_difference(before, after)}")
    found = [contents.searches(u, QUERIES) for u in (url, other)]
    if found[0] != found[1]:
        faults.append(f"searches: {found[0]} became {found[1]}"[:2000])
    return faults


def _calls(
    url: str, other: str, known: dict[str, list[Any]], *, calls: int, random: Random, until: float
) -> Iterator[str | None]:
    """A fault, or None, of each call: the original and the restored one are asked the same."""
    arguments = Arguments(random, known)
    with psycopg.connect(url, autocommit=True) as connection:
        called = routines(connection)
    arguments.options = options_of(called)
    pair = tenants.Pair("the owner", url, other, [])
    try:
        for number in range(calls):
            if monotonic() > until:
                break
            routine = called[number % len(called)]
            statement = routine.statement(chosen_arguments(routine, arguments))
            told, _ = pair.difference(f"select to_jsonb(answer) from ({statement}) as answer")
            yield f"{told}\n{statement[:1500]};" if told else None
    finally:
        pair.close()


def run(
    url: str,
    *,
    calls: int = 2000,
    seed: int,
    minutes: float | None = None,
    data: object = None,
) -> Outcome:
    """Fill a migrated, empty database, and restore it on another server."""
    until = monotonic() + 60 * minutes if minutes else float("inf")
    known = corpus.build(url)
    counts = {"tables": 0, "rows": 0, "calls of both": 0}
    faults: list[str] = []
    with temporary_server() as app:
        other = app.url
        restore(url, other)
        faults += [f"restored: {told}" for told in compared(url, other)]
        rows = contents.rows(other)
        counts["tables"] = len(rows)
        counts["rows"] = sum(found.total() for found in rows.values())
        asked = _calls(url, other, known, calls=calls, random=Random(seed), until=until)
        for fault in asked:
            counts["calls of both"] += 1
            faults += [fault] if fault else []
    return Outcome("restore", counts, faults)


if __name__ == "__main__":
    sys.exit(run_part(run, counted="calls"))
