"""Naive full-text search in PostgreSQL: one tsvector per page, the query's words joined by OR."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from pgrag.evaluation.runs import Configuration
from pgrag.service.app import App

PAGES = b"""
create schema bare;
create table bare.pages as
select
    p.key, p.language::regconfig as language,
    to_tsvector(p.language::regconfig, p.title || ' ' || p.body) as words
from pgrag.pages as p
join pgrag.libraries as l on l.library_id = p.library_id
where l.name = $$%s$$;
create index on bare.pages using gin (words);
analyze bare.pages;
"""
SEARCH = b"""
create function pgrag.bare_ts_rank(query text, library text, top_k integer)
returns setof pgrag.hit
language sql
stable
as $$
    select (jsonb_populate_record(
        null::pgrag.hit, jsonb_build_object('key', b.key, 'score', b.score)
    )).*
    from (
        select p.key, pg_catalog.ts_rank(p.words, q.words) as score
        from (
            select l.language, replace(
                plainto_tsquery(l.language, bare_ts_rank.query)::text, '&', '|'
            )::tsquery as words
            from (select p.language from bare.pages as p limit 1) as l
        ) as q
        join bare.pages as p on p.words @@ q.words
        order by score desc, p.key
        limit bare_ts_rank.top_k
    ) as b;
$$;
"""

REMOVAL = b"""
drop schema if exists bare cascade;
drop function if exists pgrag.bare_ts_rank(text, text, integer);
"""


@contextmanager
def installed(app: App, library: str) -> Iterator[Configuration]:
    """Lend the configuration of a run that ranks the pages of a library by plain `ts_rank`."""
    with psycopg.connect(app.url, autocommit=True) as connection:
        connection.execute(REMOVAL)
        try:
            connection.execute(PAGES % library.encode())
            connection.execute(SEARCH)
            yield Configuration("ts_rank", {"function": "bare_ts_rank"})
        finally:
            connection.execute(REMOVAL)
