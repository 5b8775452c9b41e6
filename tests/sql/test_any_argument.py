"""Every public function with SQL in every text, and with null in every argument."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
import pytest
from campaign.arguments import EVIL
from library import ingest, page, value
from psycopg import sql
from psycopg.types.json import Jsonb

#: Arguments that make a call do its work; what is not named has a default.
USUAL: dict[str, Any] = {
    "query": "drain the node",
    "role_name": "pgrag_reader",
    "role": "search",
    "question": "How do I drain the node?",
    "library": "tool",
    "libraries": ["tool"],
    "keys": ["a.md"],
    "chunk_key": "a.md#c0",
    "label": "1.2.3",
    "version": "1.0",
    "urls": ["https://example.org/a"],
    "bodies": [None],
    "max_depth": 3,
    "name": "another",
    "dimensions": 3,
    "model": "static-en-de-ru-256",
    "language": "english",
    "markdown": "[a](b)",
    "url": "https://example.org/a",
    "base_url": "https://example.org",
    "title": "Title",
    "path": ["A", "B"],
    "content": "Some text.",
    "input": "Some text.",
    "lexeme": "text",
    "words": "drain node",
    "field_weights": [1.0, 1.0, 1.0, 1.0],
    "frequency": 1.0,
    "length": 10.0,
    "average_length": 10.0,
    "k1": 1.2,
    "b": 0.75,
    "document_count": 1.0,
    "corpus_size": 10.0,
    "scores": [0.5],
    "text_hashes": [],
    "page_hash": UUID(int=0),
    "expected": 100,
    "stored": 0,
    "edge_ids": [],
    "kind": "depends_on",
    "sentence": "A needs b.",
    "source_title": "A",
    "target_title": "B",
    "evaluation_set": "questions",
    "run_id": 1,
    "other_run_id": 1,
    "query_id": "q1",
    "metric": "ndcg@10",
    "grades": [1, 0],
    "judged": [1],
    "unit": "page",
    "key": "a.md",
    "from_version": "-",
    "anchor": "drain",
    "sort_order": 1,
    "vectors": [],
    "intent_name": "PROCEDURAL",
    "entries": Jsonb({"rules": {}}),
    "synonyms": Jsonb({"valve": ["tap"]}),
    "hits": Jsonb([]),
    "pattern": "drain",
    "rating": 4,
    "sentences": ["Drain the node."],
    "documents": Jsonb([[1]]),
    "status": "answered",
    "days": 30,
    "front_matter_type": "guide",
    "prompt_version": "1",
    "enrichments": Jsonb([]),
    "new_keys": Jsonb({"a.md": "b.md"}),
    "arguments": Jsonb({"source": "/docs"}),
    "worker": "host:1",
    "claim": 1,
    "file": 0,
    "piece": 0,
    "data": b"# A",
    "reason": "It is down.",
}
ROUTINES = """
select
    p.proname as name,
    p.proargnames[:p.pronargs] as arguments,
    array(
        select format_type(t.type, null)
        from unnest(p.proargtypes::oid[]) with ordinality as t (type, place)
        order by t.place
    ) as types,
    p.pronargdefaults as defaults
from pg_proc as p
where p.pronamespace = 'pgrag'::regnamespace
order by p.proname
"""


@pytest.fixture(scope="module")
def usual(module_connection) -> dict[str, Any]:
    ingest(module_connection, "tool", [page("a.md", "Drain the node.", "Fill it.")])
    document = module_connection.execute("select * from pgrag.documents limit 1").fetchone()
    assert document
    queries = Jsonb([{"id": "q1", "text": "drain the node", "judgements": {"a.md": 1}}])
    module_connection.execute(
        "select * from pgrag.import_evaluation_set('questions', 'tool', %s)", [queries]
    )
    module_connection.execute("select pgrag.run_evaluation('questions')")
    module_connection.execute("select pgrag.create_key('another', 'search', '{*}')")
    job_id = value(
        module_connection, "select pgrag.create_job('tool', arguments => '{\"source\": \"/a\"}')"
    )
    return USUAL | {
        "job_id": job_id,
        "wanted_id": job_id,
        "search_id": value(
            module_connection, "select pgrag.record_search('drain', '[]', parameters => '{}')"
        ),
        "document_id": document["document_id"],
        "document_ids": [document["document_id"]],
        "page_id": document["page_id"],
        "page_ids": [document["page_id"]],
        "from_page": document["page_id"],
        "to_page": document["page_id"],
        "library_id": document["library_id"],
        "library_ids": [document["library_id"]],
        "version_id": document["version_id"],
        "settings": Jsonb({"alpha": 0.5}),
        "filters": Jsonb({"type": "guide"}),
        "pages": Jsonb([{"key": "b.md"}]),
        "queries": Jsonb([{"id": "q1", "text": "drain", "judgements": {"a.md": 1}}]),
        "configuration": Jsonb({"function": "search"}),
        "search": "'drain':1A 'node':2",
        "query_embedding": "[" + ",".join(["1"] * 256) + "]",
    }


@pytest.fixture(scope="module")
def routines(module_connection) -> list[dict[str, Any]]:
    return module_connection.execute(ROUTINES).fetchall()


def usual_arguments(routine: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    names = routine["arguments"] or []
    required = names[: len(names) - routine["defaults"]]
    if "page" in required:
        text = routine["types"][names.index("page")] == "text"
        usual = usual | {"page": "a.md" if text else Jsonb({"key": "b.md", "body": "New."})}
    if "prompt_version" in required:
        usual = usual | {"kind": "context"}
    if routine["name"] == "query_pages":
        usual = usual | {"query": "LIST"}
    if "queries" in required and routine["types"][names.index("queries")] == "text[]":
        usual = usual | {"queries": ["drain the node"]}
    return {name: usual[name] for name in required}


def call(connection, routine: dict[str, Any], arguments: dict[str, Any]) -> str | None:
    """Call a function as SQL would, and undo it; the SQLSTATE of its error, if any."""
    types = dict(zip(routine["arguments"] or [], routine["types"], strict=True))
    statement = sql.SQL("select * from {}({})").format(
        sql.Identifier("pgrag", routine["name"]),
        sql.SQL(", ").join(
            sql.SQL("{} => {}::{}").format(
                sql.Identifier(name), sql.Placeholder(name), sql.SQL(types[name])
            )
            for name in arguments
        ),
    )
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(statement, arguments).fetchall()
    except psycopg.Error as error:
        return error.sqlstate
    return None


def is_clear(sqlstate: str | None) -> bool:
    """Whether it is a result or an error of ours."""
    return sqlstate is None or sqlstate.startswith("PGR")


#: Nothing here is tuned that could be undone, and the key is there already; the default model of
#: `embed` is not the usual one; the job is not an upload.
UNUSUAL = {
    ("embed", "PGR09"), ("undo_tuning", "PGR01"), ("create_key", "PGR01"),
    ("add_upload_piece", "PGR01"), ("submit_upload", "PGR01"),
}  # fmt: skip


def test_usual_arguments_work(connection, usual, routines):
    failed = {}
    for routine in routines:
        sqlstate = call(connection, routine, usual_arguments(routine, usual))
        if sqlstate and (routine["name"], sqlstate) not in UNUSUAL:
            failed[routine["name"]] = sqlstate
    assert failed == {}


def test_sql_in_any_text_is_text(connection, usual, routines):
    odd = {}
    for routine in routines:
        for name, type_ in zip(routine["arguments"] or [], routine["types"], strict=True):
            if type_ not in ("text", "text[]", "jsonb"):
                continue
            for evil in EVIL:
                given: Any = {"text": evil, "text[]": [evil], "jsonb": None}[type_]
                for variant in [given] if given is not None else variants(evil):
                    arguments = usual_arguments(routine, usual) | {name: variant}
                    sqlstate = call(connection, routine, arguments)
                    if not is_clear(sqlstate):
                        odd[routine["name"], name, evil[:30]] = sqlstate
    assert odd == {}
    assert value(connection, "select count(*) from pgrag.pages") == 1


def variants(evil: str) -> list[Jsonb]:
    """The text as a key, a value, in a list, and alone."""
    return [
        Jsonb(v) for v in ({evil: evil}, {"key": evil, "type": evil}, [evil], [{"key": evil}], evil)
    ]


def test_null_in_any_argument_is_no_crash(connection, usual, routines):
    odd = {}
    for routine in routines:
        for name in routine["arguments"] or []:
            arguments = usual_arguments(routine, usual) | {name: None}
            sqlstate = call(connection, routine, arguments)
            if not is_clear(sqlstate):
                odd[routine["name"], name] = sqlstate
    assert odd == {}
