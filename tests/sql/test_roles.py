"""Who may do what: the owner everything, a reading role whatever it has tables for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from library import ingest, page, refused, run, search

from pgrag.ground import schema
from pgrag.ground.routines import install_functions


@pytest.fixture
def role(connection) -> Iterator[str]:
    """A role that may do nothing yet; it goes with the transaction."""
    connection.execute("create role pgrag_test_reader")
    return "pgrag_test_reader"


@pytest.fixture
def guide(connection) -> str:
    ingest(
        connection,
        "guide",
        [
            page("a.md", "Drain a node before you upgrade its kernel."),
            page("b.md", "Something else."),
        ],
    )
    return "guide"


def test_without_tables_a_role_reads_nothing(connection, guide, role):
    connection.execute("set local role pgrag_test_reader")
    with refused(connection, "42501", "permission denied for table"):
        search(connection, "drain a node", library=guide)


def test_reader_searches_and_reads_everything(connection, guide, role):
    connection.execute("grant pgrag_reader to pgrag_test_reader")
    run(connection, "grant_libraries", role_name=role, libraries=["*"])
    connection.execute("set local role pgrag_test_reader")
    [hit, *_] = search(connection, "drain a node", library=guide, snippets=True, explain=True)
    assert hit["key"] == "a.md"
    assert hit["semantic_score"] > 0
    document_id, page_id = hit["document_id"], hit["page_id"]
    for function, arguments in {
        "keyword_search": {"query": "drain", "filters": {"type": None}},
        "semantic_search": {"query": "drain"},
        "explain_search": {"query": "drain"},
        "context": {"query": "drain", "parents": True, "siblings": 1},
        "libraries": {},
        "library_versions": {"library": guide},
        "resolve_version": {"library": guide},
        "pages": {"library": guide},
        "page": {"page_id": page_id},
        "outline": {"page_id": page_id},
        "document": {"document_id": document_id},
        "parent": {"document_id": document_id},
        "ancestors": {"document_id": document_id},
        "children": {"document_id": document_id},
        "siblings": {"document_id": document_id},
        "expand_documents": {"document_ids": [document_id], "scores": [0.5]},
        "pending_embeddings": {"library": guide},
    }.items():
        run(connection, function, **arguments)


def test_functions_stay_callable_where_public_loses_execute_by_default(connection, role):
    """Hardened databases take "execute" from public for every function that is made."""
    connection.execute("alter default privileges revoke execute on functions from public")
    connection.execute("set local search_path = pg_catalog, public, pg_temp")
    connection.execute("update pgrag.installed_functions set digest = 'of an older release'")
    assert install_functions(connection, schema.sql_root())
    connection.execute("grant pgrag_reader to pgrag_test_reader")
    run(connection, "grant_libraries", role_name=role, libraries=["*"])
    connection.execute("set local role pgrag_test_reader")
    assert search(connection, "anything") == []
