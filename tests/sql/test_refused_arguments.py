"""Values with which PostgreSQL itself would fail: the error is of pgrag and names the argument."""

import re

import psycopg
import pytest
from library import ingest, page, refused, run, value
from psycopg.types.json import Jsonb

VECTOR = f"[{','.join(['1'] * 256)}]"


@pytest.fixture(autouse=True)
def library(connection):
    ingest(connection, "tool", [page("a.md", "Drain the node.", "Fill it.")])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("inverse_document_frequency(-1, 10)", "document_count and corpus_size .* -1 and 10"),
        ("inverse_document_frequency(0, 1e308)", "document_count and corpus_size"),
        ("ranking_metric('ndcg_exp@5', '{32767}', '{1}')", "grade 32767 is too large"),
        ("tune('tool', seed => 9223372036854775807)", "seed"),
        ("tune('tool', query_count => 49)", "query_count must be between 50 and 5000, got 49"),
        ("tune('tool', query_count => 5001)", "query_count must be between 50 and 5000, got 5001"),
        ("tune('tool', source => 'links')", "judgements, feedback or library, got 'links'"),
        ("compare_evaluations(1, 2, seed => 9223372036854775807)", "seed"),
        ("compare_evaluations(1, 2, permutations => 0)", "permutations must be between 1"),
        ("import_evaluation_set('Two words', 'tool', '[]')", "cannot be called 'two words'"),
        ("import_evaluation_set('a', 'tool', '[]', 'word')", "section or document, got 'word'"),
        ("give_feedback(gen_random_uuid(), 0)", "rating must be between 1 and 5, got 0"),
        ("give_feedback(gen_random_uuid(), 6)", "rating must be between 1 and 5, got 6"),
        ("give_feedback(gen_random_uuid(), null)", "rating must be between 1 and 5, got null"),
        ("give_feedback(gen_random_uuid(), 3, null, repeat('x', 10001))", "at most 10,000 char"),
        ("keep_searches(0)", "1 to 36500 days, not 0"),
        ("keep_searches(36501)", "1 to 36500 days, not 36501"),
        ("forget_searches('-1 day')", "must not be negative"),
        ("search_metrics(0)", "days must be between 1 and 36500, got 0"),
        ("search_metrics(period => 'hour')", "period must be day, week, month or all, got 'hour'"),
        ("answer_metrics(period => 'year')", "period must be day, week, month or all, got 'year'"),
        ("properties('tool', example_count => -1)", "example_count must be at least 0, got -1"),
        ("query_pages('LIST', 'tool', top_k => -1)", "top_k must be at least 0, got -1"),
        ("empty_queries(top_k => -1)", "top_k must be at least 0, got -1"),
        ("gaps(top_k => -1)", "top_k must be at least 0, got -1"),
        ("gaps(weak_confidence => 2)", "weak_confidence must be between 0 and 1, got 2"),
        ("popular_queries(top_k => -1)", "top_k must be at least 0, got -1"),
        ("search_history(top_k => -1)", "top_k must be at least 0, got -1"),
        ("pages('tool', top_k => -1)", "top_k must be at least 0, got -1"),
        ("pending_embeddings('tool', top_k => -1)", "top_k must be at least 0, got -1"),
        ("enrichment_failures('tool', top_k => -1)", "top_k must be at least 0, got -1"),
        ("judgements_from_feedback(days => -2147483648)", "days"),
        ("configure_library('tool', null)", "settings must be an object, got null"),
        ("configure_library('tool', '[1]')", "settings must be an object"),
        ("configure_library('tool', '{\"k1\": 5e-324}')", "k1 must be"),
        ("register_model(null, 3)", "called NULL"),
        ("register_model('m', null)", "dimensions"),
        ("register_model('m', 4001)", "dimensions"),
        ("register_model('m', 3, 'none')", "openai, local or custom, got 'none'"),
        ("register_model('m', 3, query_prefix => null)", "query_prefix"),
        ("register_model('m', 3, alpha => 1.5)", "alpha"),
        (f"remember_query_vector(null, 'static-en-de-ru-256', '{VECTOR}')", "query"),
        (f"remember_query_vector('q', null, '{VECTOR}')", "model"),
        ("remember_query_vector('q', 'static-en-de-ru-256', null)", "query_embedding"),
        (f"remember_query_vector('q', 'static-en-de-ru-256', '{VECTOR}', 0)", "capacity must be"),
        (f"store_embeddings('tool', null, '{{}}', '{{\"{VECTOR}\"}}')", "model"),
        ("check_library('tool', checks => '{{links,none}}')", "no check 'none'"),
        ("check_library('tool', checks => '{{links,null}}')", "no check NULL"),
        ("diversify('{{1,2}}', '{0.5,0.5}')", "document_ids and scores"),
        ("diversify('{1,2}', '{1e308,-1e308}')", "at most 1e100"),
        ("expand_documents('{1}', '{1}', expansion_share => 5e-324)", "share"),
        ("search('node', alpha => 5e-324)", "alpha must be 0, or from 1e-100"),
        ("search('node', rrf_weights => '{1, 5e-324}')", "rrf_weights must be 0, or from 1e-100"),
        ("context('node', options => '{\"min_score\": 1e400}')", "min_score must be 0, or from"),
        ("_pgrag.begin_crawl('tool', '4.2 beta', '{}')", "version label '4.2 beta'"),
        ("_pgrag.begin_crawl('-tool', '', '{}')", "library name '-tool'"),
    ],
)
def test_the_argument_is_named(connection, call, words):
    with pytest.raises(psycopg.Error) as caught, connection.transaction():
        connection.execute(f"select * from {'' if call[0] == '_' else 'pgrag.'}{call}".encode())
    assert caught.value.sqlstate == "PGR01"
    assert re.search(words, caught.value.diag.message_primary)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"tags": {}}, "tags of page 'n.md' must be a list of texts, got {}"),
        ({"tags": 9}, "tags of page 'n.md' must be a list"),
        ({"path": [["a"], "b"]}, "path of page 'n.md' must be a list"),
        ({"modified": {}}, "modified of page 'n.md' must be a time"),
        ({"created": "soon"}, "created of page 'n.md' must be a time such as 2026-01-31, got \"so"),
        ({"documents": {}}, "documents of page 'n.md' must be a list of objects"),
        ({"documents": ["x"]}, "documents of page 'n.md' must be a list of objects"),
        ({"documents": [{}, {"level": 3}]}, "level of passage 2 of page 'n.md' must be 0, 1 or 2"),
        ({"documents": [{"covers": 8}]}, "covers of passage 1"),
        ({"documents": [{"parent": "x"}]}, "parent of passage 1"),
        ({"documents": [{"path": "x"}]}, "path of passage 1"),
        ({"documents": [{"is_summary": 1}]}, "is_summary of passage 1"),
        ({"documents": [{"line_start": 10**12}]}, "line_start of passage 1"),
        ({"documents": [{"heading_level": 10**5}]}, "heading_level of passage 1"),
    ],
)
def test_the_field_of_a_page_is_named(connection, fields, words):
    written = Jsonb({"key": "n.md", "body": "x"} | fields)
    with refused(connection, "PGR01", words):
        connection.execute("select pgrag.ingest_page('tool', %s)", [written])
    assert value(connection, "select count(*) from pgrag.pages") == 1


def test_null_in_a_field_or_an_entry_is_its_default(connection):
    document = dict.fromkeys(("parent", "level", "path", "types", "is_summary", "line_end"))
    fields = dict.fromkeys(("tags", "path", "created", "front_matter", "aliases"))
    written = {"key": "n.md", **fields, "documents": [{"content": "Text.", **document}]}
    connection.execute("select pgrag.ingest_page('tool', %s)", [Jsonb(written)])
    assert value(connection, "select tags from pgrag.pages where key = 'n.md'") == []
    rule = {"pattern": "x", "confidence": None, "language": None, "intent": "PROCEDURAL"}
    entries = {"rules": {"mine": rule}, "page_types": {"mine": {"retriever_weight": None}}}
    connection.execute("select pgrag.apply_configuration(%s)", [Jsonb(entries)])
    stored = value(connection, "select pgrag.configuration()")
    assert stored["rules"]["mine"]["confidence"] == 0.8
    assert stored["page_types"]["mine"]["retriever_weight"] == 1


def test_null_vectors_are_left_out_and_one_for_an_edge_is_stored(connection):
    connection.execute("delete from pgrag.embeddings")
    hashes = "select array_agg(distinct text_hash) from pgrag.documents"
    stored = value(
        connection,
        f"select pgrag.store_embeddings('tool', 'static-en-de-ru-256', ({hashes}),"
        f" array[null, '{VECTOR}']::halfvec[])",
    )
    assert stored == 1
    ingest(connection, "tool", [page("b.md", "Text.", edges=[{"target": "a.md"}])])
    stored = value(
        connection,
        "select pgrag.store_embeddings('tool', 'static-en-de-ru-256',"
        " array_agg(e.text_hash), array_agg(%s::halfvec), array_agg(e.edge_id))"
        " from pgrag.pending_embeddings('tool', kind => 'edge') as e"
        " cross join generate_series(1, 2)",
        VECTOR,
    )
    assert stored == 1


def test_extreme_ages_numbers_and_names_and_nested_lists(connection):
    value(connection, "select pgrag.record_search('drain', '[]')")
    assert value(connection, "select pgrag.forget_searches('178000000 years')") == 0
    assert value(connection, "select count(*) from pgrag.searches") == 1
    [page_id] = connection.execute("select page_id from pgrag.pages").fetchone().values()
    connection.execute(
        "select * from pgrag.neighbourhood(%s, page_ids => %s)", [page_id, [[page_id, page_id]]]
    )
    ids = value(connection, "select array_agg(document_id) from pgrag.documents")[:2]
    rows = connection.execute(
        "select * from pgrag.diversify(%s, %s, mmr_lambda => 5e-324)", [ids, [1e-320, 0.7]]
    ).fetchall()
    assert [row["document_id"] for row in rows] == ids[::-1]
    assert rows[1]["score"] == 1e-320
    connection.execute("set local statement_timeout = '60s'")
    with refused(connection, "PGR02"):
        run(connection, "pages", library="x" * 70000)
