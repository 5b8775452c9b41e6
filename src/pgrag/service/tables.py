"""Tables of the user: what triggers have noted is read in batches, and embedded."""

import logging
from collections import Counter
from collections.abc import Callable

from pgrag.ground.calls import Row
from pgrag.ground.connections import Database
from pgrag.ground.errors import DatabaseUnavailable, PgragError

log = logging.getLogger(__name__)

ROWS = 2000
"""Notes of a batch, which is one transaction: other writers of the library wait for its end."""


def refresh(
    database: Database,
    library: str,
    embed: Callable[[], object],
    *,
    compare: bool = False,
    told: Callable[[Row], None] = lambda row: None,
) -> Row:
    """Refresh a table until no note is left; return the sums. `told` gets those so far."""
    total = Counter[str](written=0, unchanged=0, removed=0, failed=0)
    waiting: int | None = None
    while waiting != 0:
        [row] = database.call("refresh_table", library=library, rows=ROWS, compare=compare)
        total.update({name: row[name] for name in total})
        told({**total, "waiting": row["waiting"]})
        if waiting is not None and row["waiting"] >= waiting:
            # Changes come faster than they are read: the next run goes on.
            break
        compare, waiting = False, row["waiting"]
    if total["written"]:
        embed()
    return {**total, "waiting": row["waiting"]}


class Watched:
    """The tables that a worker keeps up to date. What is wrong with one is told once."""

    def __init__(self, database: Database, embed: Callable[[str], object]) -> None:
        self._database = database
        self._embed = embed
        self._told: dict[str, str] = {}

    def refresh(self) -> bool:
        """Read a batch of each table that has notes; return whether any are left to read."""
        is_left = False
        for table in self._database.call("indexed_tables"):
            library = table["library"]
            if not table["watched"] or table["waiting"] == 0:
                continue
            try:
                [row] = self._database.call("refresh_table", library=library, rows=ROWS)
                if row["written"]:
                    self._embed(library)
                is_left = is_left or row["waiting"] > 0
                self._told.pop(library, None)
            except DatabaseUnavailable:
                raise
            except PgragError as error:
                if self._told.get(library) != str(error):
                    self._told[library] = str(error)
                    log.warning("The table of %s is not refreshed: %s", library, error)
        return is_left
