"""Every public function with SQL in every text, and with null in every argument."""

from contextlib import closing
from random import Random
from typing import Any

import pytest
from campaign import corpus
from campaign.arguments import EVIL
from campaign.functions import Routine, callers
from campaign.servers import Session
from psycopg.types.json import Jsonb

#: In addition to what the corpus of the campaign knows.
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

    def __init__(self, url, session):
        known = corpus.build(url) | corpus.values(url, KNOWN)
        called, usual = callers(url, Random(1), known | {"wanted_id": known["job_id"]})
        self._session = session
        self.failing: dict[str, str] = {}
        self._usual: list[tuple[Routine, dict[str, Any]]] = []
        for routine in called:
            for _ in range(40):
                arguments = {
                    name: usual.usual(name, type_)
                    for name, type_ in [*routine.types.items()][: routine.required]
                }
                if not (sqlstate := session.ask(routine.statement(arguments)).state):
                    break
            else:
                self.failing[routine.name] = sqlstate
            self._usual.append((routine, arguments))

    def odd(self, values):
        """Errors that are not of pgrag, where one argument is one of the values for its type."""
        return {
            (routine.name, name, repr(given)[:40]): sqlstate
            for routine, arguments in self._usual
            for name, type_ in routine.types.items()
            for given in values(type_)
            if (sqlstate := self._session.ask(routine.statement(arguments | {name: given})).state)
            and not sqlstate.startswith("PGR")
        }

    def pages(self):
        return self._session.ask("select count(*) from pgrag.pages").told["rows"]


@pytest.fixture(scope="module")
def calls(clone):
    with clone() as url, closing(Session(url, ["set statement_timeout = 0"])) as session:
        yield Calls(url, session)


def test_arguments_work_and_neither_sql_nor_null_in_any_is_a_crash(calls):
    assert calls.failing.keys() == UNUSUAL, calls.failing
    before = calls.pages()
    assert calls.odd(lambda type_: HOSTILE.get(type_, [])) == {}
    assert calls.pages() == before
    assert calls.odd(lambda _: [None]) == {}
