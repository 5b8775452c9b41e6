"""The command line of each part: `python -m campaign.PART --minutes 1 --seed 1`."""

from __future__ import annotations

import argparse
import inspect
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from campaign.outcome import Outcome, outcomes_table, write_rows
from pgrag.ground.settings import Settings
from pgrag.service.app import App


@contextmanager
def temporary_database() -> Iterator[str]:
    """The URL of a migrated database on an embedded server of its own."""
    with temporary_server() as app:
        app.upgrade()
        yield app.url


@contextmanager
def temporary_server() -> Iterator[App]:
    """An application with an embedded server of its own, without the schema."""
    with tempfile.TemporaryDirectory(prefix="pgrag-campaign-") as folder:
        home = Path(folder)
        # Root's server runs as another user, who must be able to traverse the folder.
        home.chmod(0o711)
        with App(Settings(database_url=None, home=home / "home", embedding_url=None)) as app:
            try:
                yield app
            finally:
                app.close()
                app.server.remove()


def run_part(
    run: Callable[..., Outcome], counted: str, arguments: Sequence[str] | None = None
) -> int:
    """Run one part as its command line says; `counted` names the argument that bounds it.

    Returns 1 if it found a fault.
    """
    default = inspect.signature(run).parameters[counted].default
    module = sys.modules[run.__module__]
    name = Path(str(module.__file__)).stem
    parser = argparse.ArgumentParser(
        prog=f"python -m campaign.{name}", description=(module.__doc__ or "").splitlines()[0]
    )
    parser.add_argument(f"--{counted}", type=int, default=default, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--minutes", type=float, help="stop after so many minutes")
    parser.add_argument("--data", type=Path, help="a folder of real pages, where a part uses them")
    parser.add_argument(
        "--database-url", help="an empty, migrated database (default: a new embedded server)"
    )
    parser.add_argument("--page", type=Path, help="a page to write the row of the part into")
    given = vars(parser.parse_args(arguments))
    url, page = given.pop("database_url"), given.pop("page")
    if url:
        outcome = run(url, **given)
    else:
        with temporary_database() as url:
            outcome = run(url, **given)
    report(
        [outcome],
        f"python -m campaign.{name} --{counted} {given[counted]} --seed {given['seed']}",
        page,
    )
    return int(bool(outcome.faults))


def report(outcomes: Sequence[Outcome], command: str, page: Path | None) -> None:
    """Print the table, and below it each fault; write the rows into a page, if one is given."""
    print(outcomes_table(outcomes, command))
    for outcome in outcomes:
        for fault in outcome.faults:
            print(f"\n{outcome.name}: {fault}")
    if page:
        write_rows(page, outcomes, command)
