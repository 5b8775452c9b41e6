"""Every public function with SQL in every text, and with null in every argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from random import Random
from typing import Any

import psycopg
import pytest
from campaign import corpus
from campaign.arguments import EVIL, Arguments
from campaign.functions import Routine, Session, options_of, routines
from psycopg.types.json import Jsonb

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

#: A session, and every function with arguments that work, or the last that did not.
Calls = tuple[Session, list[tuple[Routine, dict[str, Any], str | None]]]


@pytest.fixture(scope="module")
def calls(clone: Callable[[], AbstractContextManager[str]]) -> Iterator[Calls]:
    with clone() as url:
        known = corpus.build(url) | corpus.values(url, KNOWN)
        usual = Arguments(Random(1), known | {"wanted_id": known["job_id"]})
        with psycopg.connect(url) as connection:
            called = routines(connection)
        usual.options = options_of(called)
        with closing(Session(url)) as session:
            yield session, [(one, *usual_arguments(session, one, usual)) for one in called]


def usual_arguments(
    session: Session, routine: Routine, usual: Arguments
) -> tuple[dict[str, Any], str | None]:
    required = [*routine.types.items()][: routine.required]
    for _ in range(40):
        arguments = {name: usual.usual(name, type_) for name, type_ in required}
        if not (state := session.ask(routine.statement(arguments)).state):
            break
    return arguments, state


def faults(calls: Calls, values: Callable[[str], list[Any]]) -> dict[tuple[str, str, str], str]:
    """Errors that are not of pgrag, where one argument is one of the values for its type."""
    session, called = calls
    return {
        (routine.name, name, repr(given)[:40]): answer.state or "slow"
        for routine, arguments, _ in called
        for name, type_ in routine.types.items()
        for given in values(type_)
        if (answer := session.ask(routine.statement(arguments | {name: given}))).is_fault
    }


def test_usual_arguments_work(calls):
    failing = {routine.name: state for routine, _, state in calls[1] if state}
    assert failing.keys() == UNUSUAL, failing


def test_sql_in_any_text_is_text(calls):
    assert faults(calls, lambda type_: HOSTILE.get(type_, [])) == {}


def test_null_in_any_argument_is_no_crash(calls):
    assert faults(calls, lambda _: [None]) == {}
