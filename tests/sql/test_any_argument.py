"""Every public function with SQL in every text, and with null in every argument."""

from contextlib import closing
from random import Random
from typing import Any

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
#: Nothing is tuned that could be undone.
UNUSUAL = {"undo_tuning"}
HOSTILE: dict[str, list[Any]] = {
    "text": EVIL,
    "anycompatible": EVIL,
    "text[]": [[evil] for evil in EVIL],
    "jsonb": [
        Jsonb(document)
        for evil in EVIL
        for document in (
            {evil: evil}, {"key": evil, "type": evil}, [evil], [{"key": evil}], evil,
        )
    ],
}  # fmt: skip


def test_arguments_work_and_neither_sql_nor_null_in_any_is_a_crash(database_url):
    known = corpus.build(database_url) | corpus.values(database_url, KNOWN)
    called, usual = callers(database_url, Random(1), known | {"wanted_id": known["job_id"]})
    with closing(Session(database_url, ["set statement_timeout = 0"])) as session:
        failing: dict[str, str] = {}
        calls: list[tuple[Routine, dict[str, Any]]] = []
        for routine in called:
            for _ in range(40):
                arguments = {
                    name: usual.usual(name, type_)
                    for name, type_ in [*routine.types.items()][: routine.required]
                }
                if not (sqlstate := session.ask(routine.statement(arguments)).state):
                    break
            else:
                failing[routine.name] = sqlstate
            calls.append((routine, arguments))
        assert failing.keys() == UNUSUAL, failing

        def odd(values):
            """Errors that are not of pgrag, where an argument is one of the values for its type."""
            return {
                (routine.name, name, repr(given)[:40]): sqlstate
                for routine, arguments in calls
                for name, type_ in routine.types.items()
                for given in values(type_)
                if (sqlstate := session.ask(routine.statement(arguments | {name: given})).state)
                and not sqlstate.startswith("PGR")
            }

        pages = "select count(*) from pgrag.pages"
        before = session.ask(pages).told["rows"]
        assert odd(lambda type_: HOSTILE.get(type_, [])) == {}
        assert session.ask(pages).told["rows"] == before
        assert odd(lambda _: [None]) == {}
