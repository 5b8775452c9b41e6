"""Everything that is kept beside the rows must be what the rows say."""

from __future__ import annotations

from collections import Counter, defaultdict

import psycopg
import pytest
from oracle import Corpus, Oracle

LEFT_BEHIND = """
select 'document without page' as fault, d.document_id as id
from pgrag.documents as d
where not exists (
    select from pgrag.pages as p where p.library_id = d.library_id and p.page_id = d.page_id
)
union all
select 'document of another version than its page', d.document_id
from pgrag.documents as d
join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
where p.version_id <> d.version_id
union all
select 'parent on another page', d.document_id
from pgrag.documents as d
left join pgrag.documents as above
    on above.library_id = d.library_id and above.document_id = d.parent_id
where d.parent_id is not null and above.page_id is distinct from d.page_id
union all
select 'embedding that is not as its document', e.document_id
from pgrag.embeddings as e
left join pgrag.documents as d on d.library_id = e.library_id and d.document_id = e.document_id
where (d.version_id, d.page_id, d.covers) is distinct from (e.version_id, e.page_id, e.covers)
    or d.covers = 0
union all
select 'two texts with one hash', min(d.document_id)
from pgrag.documents as d
join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
group by d.library_id, d.text_hash
having count(
    distinct pgrag.embedding_text(
        p.title, pgrag.relative_url(p.url, coalesce(v.source ->> 'base_url', '')), d.path, d.content
    )
) > 1
union all
select 'searched without full-text vector, or the other way round', d.document_id
from pgrag.documents as d
where (d.covers > 0) <> (d.search is not null)
union all
select 'edge from or to a page of another version, or to none', e.edge_id
from pgrag.edges as e
left join pgrag.pages as s on s.library_id = e.library_id and s.page_id = e.source_page_id
left join pgrag.pages as t on t.library_id = e.library_id and t.page_id = e.target_page_id
where s.version_id is distinct from e.version_id
    or e.target_page_id is not null and t.version_id is distinct from e.version_id
union all
select 'edge from or to a document of another page', e.edge_id
from pgrag.edges as e
left join pgrag.documents as s
    on s.library_id = e.library_id and s.document_id = e.source_document_id
left join pgrag.documents as t
    on t.library_id = e.library_id and t.document_id = e.target_document_id
where e.source_document_id is not null and s.page_id is distinct from e.source_page_id
    or e.target_document_id is not null and t.page_id is distinct from e.target_page_id
union all
select 'edge whose state contradicts its target', e.edge_id
from pgrag.edges as e
where (e.state = 'resolved') <> (e.target_page_id is not null)
    or (e.state = 'resolved') <> (e.how is not null)
    or (e.state = 'ambiguous') <> (e.candidates is not null)
    or (e.state = 'resolved' and e.fragment <> '') <> (e.fragment_found is not null)
union all
select 'page without a name of its own', p.page_id
from pgrag.pages as p
where not exists (
    select
    from pgrag.page_names as n
    where n.library_id = p.library_id
        and n.version_id = p.version_id
        and n.page_id = p.page_id
        and n.full_name = _pgrag.link_name(p.key)
        and n.name = _pgrag.last_name(n.full_name)
        and n.how = 'path'
)
"""
#: Not every test embeds or says that a version is ready: texts without vectors, and ranks of pages
#: from before, are not faults of what is looked at here.
FINDINGS = """
select l.name, f.problem, f.count, f.examples
from pgrag.libraries as l
cross join lateral pgrag.check_library(l.name) as f
where not starts_with(f.problem, 'a text without a vector')
    and not starts_with(f.problem, 'page ranks from before')
"""
COUNTS = """
select
    v.library_id, v.version_id, v.page_count, v.document_count,
    (
        select count(*)
        from pgrag.pages as p
        where p.library_id = v.library_id and p.version_id = v.version_id
    ) as pages,
    (
        select count(*)
        from pgrag.documents as d
        where d.library_id = v.library_id and d.version_id = v.version_id and d.covers > 0
    ) as documents
from pgrag.versions as v
"""
IMPACTS = """
select d.document_id, t.lexeme, coalesce(
    -(i.weights <#> ('{' || pgrag.lexeme_id(d.language, t.lexeme) || ':1}/1000000000')::sparsevec),
    0
) as impact
from pgrag.documents as d
join pgrag.impacts as i on i.library_id = d.library_id and i.document_id = d.document_id
cross join lateral unnest(d.search) as t
where t.positions is not null
"""
PAGE_TERMS = """
select
    d.library_id, d.language, d.page_id, d.document_id,
    t.lexeme, t.header_frequency, t.content_frequency
from pgrag.documents as d
join pgrag.libraries as l on l.library_id = d.library_id
cross join lateral pgrag.term_frequencies(
    d.search, _pgrag.field_weights(pgrag.effective_settings(l.settings))
) as t
where d.level = 2
"""


def assert_consistent(connection: psycopg.Connection) -> None:
    """Raises AssertionError where a count, a statistic or a copy has drifted from the rows."""
    assert connection.execute(LEFT_BEHIND).fetchall() == []
    # What a user's check says must be what is found here: nothing.
    assert connection.execute(FINDINGS).fetchall() == []
    for version in connection.execute(COUNTS).fetchall():
        assert version["page_count"] == version["pages"], version
        assert version["document_count"] == version["documents"], version
    oracle = Oracle(connection)
    _assert_corpora(connection, oracle.corpora)
    _assert_lexemes(connection, oracle.corpora)
    _assert_impacts(connection, oracle)


def _assert_corpora(connection: psycopg.Connection, corpora: dict[tuple[int, str], Corpus]) -> None:
    pages = _page_lengths(connection)
    stored = connection.execute("select * from pgrag.corpus_statistics").fetchall()
    kept = {(row["library_id"], row["language"]): row for row in stored}
    assert {scope for scope, corpus in corpora.items() if corpus.lengths} <= set(kept)
    for scope, row in kept.items():
        lengths = corpora[scope].lengths
        assert row["document_count"] == len(lengths), scope
        assert row["total_length"] == pytest.approx(sum(lengths.values()), abs=1e-6), scope
        assert row["page_count"] == len(pages[scope]), scope
        assert row["total_page_length"] == pytest.approx(sum(pages[scope]), rel=1e-5, abs=1e-3)
        assert row["average_length"] > 0 or not any(lengths.values())


def _page_lengths(connection: psycopg.Connection) -> dict[tuple[int, str], list[float]]:
    """A page is as long as its content, and its title, path and url once."""
    headers: dict[tuple[int, str, int], Counter[str]] = defaultdict(Counter)
    contents: dict[tuple[int, str, int], float] = defaultdict(float)
    for row in connection.execute(PAGE_TERMS).fetchall():
        scope = row["library_id"], row["language"], row["page_id"]
        header = headers[scope]
        header[row["lexeme"]] = max(header[row["lexeme"]], row["header_frequency"])
        contents[scope] += row["content_frequency"]
    lengths: dict[tuple[int, str], list[float]] = defaultdict(list)
    for scope, header in headers.items():
        if length := sum(header.values()) + contents[scope]:
            lengths[scope[:2]].append(length)
    return lengths


def _assert_lexemes(connection: psycopg.Connection, corpora: dict[tuple[int, str], Corpus]) -> None:
    kept: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for row in connection.execute("select * from pgrag.lexeme_statistics").fetchall():
        if row["document_count"]:
            kept[row["library_id"], row["language"]][row["lexeme"]] = row["document_count"]
    counted = {scope: corpus.containing for scope, corpus in corpora.items() if corpus.containing}
    assert dict(kept) == counted


def _assert_impacts(connection: psycopg.Connection, oracle: Oracle) -> None:
    """Each weight is the formula's, and none exceeds the bound that pruning trusts."""
    largest = {
        (row["library_id"], row["language"], row["lexeme"]): row["largest_impact"]
        for row in connection.execute("select * from pgrag.lexeme_statistics").fetchall()
    }
    for row in connection.execute(IMPACTS).fetchall():
        document = oracle.rows[row["document_id"]]
        scope = document["library_id"], document["language"]
        expected = oracle.corpora[scope].impact(row["document_id"], row["lexeme"])
        assert row["impact"] == pytest.approx(expected, rel=1e-5)
        assert row["impact"] <= largest.get((*scope, row["lexeme"]), 0) * 1.000001
