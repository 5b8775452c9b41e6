"""Every public function with SQL in every text, and with null in every argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from random import Random
from typing import Any

import psycopg
import pytest
from campaign import corpus
from campaign.arguments import EVIL, Arguments
from campaign.functions import Routine, options_of, routines
from library import value
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from pgrag.ground.connections import register_vector_types

#: Beside what the corpus of the campaign knows.
KNOWN = {
    "job_id": "select pgrag.create_job('pump', arguments => '{\"source\": \"/a\"}')"
    " union all select pgrag.create_job('pump', arguments => '{}', uploading => true)",
    "name": "select 'another' from pgrag.create_key('another', 'search', '{*}')",
    "kind": "values ('context'), ('depends_on')",
    "query": "values ('LIST')",
    "arguments": 'values (\'{"source": "/docs"}\'::jsonb)',
    "enrichments": "values ('[]'::jsonb)",
}
#: Nothing is tuned that could be undone, and the upload has no pieces.
UNUSUAL = {"undo_tuning", "submit_upload"}
HOSTILE: dict[str, list[Any]] = {
    "text": EVIL,
    "text[]": [[evil] for evil in EVIL],
    "jsonb": [
        Jsonb(document)
        for evil in EVIL
        for document in (
            {evil: evil}, {"key": evil, "type": evil}, [evil], [{"key": evil}], evil,
        )
    ],
}  # fmt: skip


class Calls:
    """Calls of all functions on the corpus of the campaign, each with arguments that work."""

    def __init__(self, connection: psycopg.Connection[Any], usual: Arguments) -> None:
        self.connection = connection
        self.failing: dict[str, str] = {}
        self._usual: list[tuple[Routine, dict[str, Any]]] = []
        called = routines(connection)
        usual.options = options_of(called)
        for routine in called:
            for _ in range(40):
                arguments = {
                    name: usual.usual(name, type_)
                    for name, type_ in [*routine.types.items()][: routine.required]
                }
                if not (sqlstate := self._ask(routine, arguments)):
                    break
            else:
                self.failing[routine.name] = sqlstate
            self._usual.append((routine, arguments))

    def odd(self, values: Callable[[str], list[Any]]) -> dict[tuple[str, str, str], str]:
        """Errors that are not of pgrag, where one argument is one of the values for its type."""
        return {
            (routine.name, name, repr(given)[:40]): sqlstate
            for routine, arguments in self._usual
            for name, type_ in routine.types.items()
            for given in values(type_)
            if (sqlstate := self._ask(routine, arguments | {name: given}))
            and not sqlstate.startswith("PGR")
        }

    def _ask(self, routine: Routine, arguments: dict[str, Any]) -> str:
        """Call a function and undo it; the SQLSTATE of its error, if any."""
        statement = routine.statement(arguments).encode()
        try:
            with self.connection.transaction(force_rollback=True):
                self.connection.execute(statement, prepare=False).fetchall()
        except psycopg.Error as error:
            return error.sqlstate or "lost"
        return ""


@pytest.fixture(scope="module")
def calls(clone: Callable[[], AbstractContextManager[str]]) -> Iterator[Calls]:
    with clone() as url:
        known = corpus.build(url) | corpus.values(url, KNOWN)
        usual = Arguments(Random(1), known | {"wanted_id": known["job_id"]})
        with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
            register_vector_types(connection)
            yield Calls(connection, usual)


def test_usual_arguments_work(calls):
    assert calls.failing.keys() == UNUSUAL, calls.failing


def test_sql_in_any_text_is_text(calls):
    count = "select count(*) from pgrag.pages"
    before = value(calls.connection, count)
    assert calls.odd(lambda type_: HOSTILE.get(type_, [])) == {}
    assert value(calls.connection, count) == before


def test_null_in_any_argument_is_no_crash(calls):
    assert calls.odd(lambda _: [None]) == {}
