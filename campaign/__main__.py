"""Run the campaign: look for faults by chance, part after part, each for a share of the time.

`python -m campaign --minutes 30 --seed 1`. Prints a table with what was done and the faults found,
and returns 1 if there is a fault. `--page` also writes the table into a page, between its marks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from psycopg.conninfo import make_conninfo

from campaign import functions, jobs, kills, overload, pages, rest, restore, services, tenants
from campaign.command import report, temporary_server
from campaign.databases import administer
from campaign.outcome import Outcome

#: Each part with its share of the time.
PARTS: dict[str, tuple[Callable[..., Outcome], int]] = {
    "tenants": (tenants.run, 3),
    "services": (services.run, 3),
    "functions": (functions.run, 3),
    "pages": (pages.run, 2),
    "kills": (kills.run, 3),
    "jobs": (jobs.run, 2),
    "restore": (restore.run, 2),
    "overload": (overload.run, 2),
    "rest": (rest.run, 3),
}


def campaign(
    *, minutes: float, seed: int, data: Path | None = None, only: Sequence[str] = ()
) -> list[Outcome]:
    """Run the parts, each in a database of its own."""
    chosen = {name: part for name, part in PARTS.items() if not only or name in only}
    shares = sum(share for _, share in chosen.values())
    outcomes = []
    with temporary_server() as app:
        app.upgrade()
        for name, (run, share) in chosen.items():
            administer(app.url, "create database {} template pgrag", name)
            outcomes.append(
                run(
                    make_conninfo(app.url, dbname=name),
                    seed=seed,
                    minutes=minutes * share / shares,
                    data=data,
                )
            )
    return outcomes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return 1 if a fault was found."""
    parser = argparse.ArgumentParser(
        prog="python -m campaign", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--data", type=Path, help="a folder of real pages, to be mutated")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=[], help="parts to run")
    parser.add_argument("--page", type=Path, help="a page to write the table into")
    options = parser.parse_args(arguments)
    outcomes = campaign(
        minutes=options.minutes, seed=options.seed, data=options.data, only=options.only
    )
    command = f"python -m campaign --minutes {options.minutes:g} --seed {options.seed}"
    report(outcomes, command, options.page)
    return int(any(outcome.faults for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
