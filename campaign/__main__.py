"""Run the campaign: look for faults by chance, part after part, each for a share of the time.

`python -m campaign --minutes 30 --seed 1`. Prints a table with what was done and the faults,
and returns 1 if there is a fault. `--page` also writes the table into a page, between its marks.
`--only PART --count N` runs a part for a number of calls, pages, rounds or seconds.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from psycopg.conninfo import make_conninfo

from campaign import (
    files,
    functions,
    jobs,
    kills,
    overload,
    pages,
    rest,
    restore,
    services,
    tenants,
)
from campaign.outcome import Outcome, outcomes_table, write_rows
from campaign.servers import administer, temporary_server

#: Each part with its share of the time.
PARTS: dict[str, tuple[Callable[..., Outcome], int]] = {
    "tenants": (tenants.run, 3),
    "services": (services.run, 3),
    "functions": (functions.run, 3),
    "pages": (pages.run, 2),
    "files": (files.run, 2),
    "kills": (kills.run, 3),
    "jobs": (jobs.run, 2),
    "restore": (restore.run, 2),
    "overload": (overload.run, 2),
    "rest": (rest.run, 3),
}

UNBOUNDED = 1_000_000
"""More calls, pages or rounds than any time allows."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return 1 if there was a fault."""
    options = _parser().parse_args(arguments)
    chosen = {name: PARTS[name] for name in PARTS if name in (options.only or PARTS)}
    shares = sum(share for _, share in chosen.values())
    minutes = options.minutes or (None if options.count else 30.0)
    bound = {"count": options.count or UNBOUNDED}
    command = f"python -m campaign{''.join(f' --only {name}' for name in options.only)}"
    command += f" --count {options.count}" if options.count else f" --minutes {minutes:g}"
    command += f" --seed {options.seed}"
    outcomes = []
    with temporary_server() as app:
        app.upgrade()
        for name, (run, share) in chosen.items():
            administer(app.url, "create database {} template pgrag", name)
            given = {"seed": options.seed, "minutes": minutes and minutes * share / shares}
            url = make_conninfo(app.url, dbname=name)
            outcomes.append(run(url, data=options.data, **given, **bound))
    print(outcomes_table(outcomes, command))
    for outcome in outcomes:
        for fault in outcome.faults:
            print(f"\n{outcome.name}: {fault}")
    if options.page:
        write_rows(options.page, outcomes, command)
    return int(any(outcome.faults for outcome in outcomes))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m campaign", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--minutes", type=float, help="(default: 30, none with --count)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--data", type=Path, help="a folder of real pages, to be mutated")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=[], help="parts to run")
    parser.add_argument("--count", type=int, help="calls, pages, rounds or seconds of a part")
    parser.add_argument("--page", type=Path, help="a page to write the table into")
    return parser


if __name__ == "__main__":
    sys.exit(main())
