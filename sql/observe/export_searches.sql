create or replace function pgrag.export_searches(
    since timestamptz default null,
    until timestamptz default null,
    library text default null
)
returns setof jsonb
language sql
stable
parallel safe
set search_path from current
as $$
    select _pgrag.search_record(s)
    from pgrag.searches as s
    where (export_searches.since is null or s.at >= export_searches.since)
        and (export_searches.until is null or s.at < export_searches.until)
        and (export_searches.library is null or s.library = lower(btrim(export_searches.library)))
    order by s.at, s.search_id;
$$;

comment on function pgrag.export_searches is
'Recorded searches from one moment (inclusive) to another (exclusive), null for no bound, the oldest
first, each as one JSON object with its hits, their scores, its feedback, and the answer generated
from the hits (null: none). library: only searches in this library alone.';

create or replace function _pgrag.search_record(
    search pgrag.searches
)
returns jsonb
language sql
stable
parallel safe
as $$
    select pg_catalog.to_jsonb(search_record.search) || pg_catalog.jsonb_build_object(
        'hits', coalesce((
            select pg_catalog.jsonb_agg(pg_catalog.to_jsonb(h) - 'search_id' order by h.rank)
            from pgrag.search_hits as h
            where h.search_id = (search_record.search).search_id
        ), '[]'),
        'feedback', coalesce((
            select pg_catalog.jsonb_agg(pg_catalog.to_jsonb(f) - 'search_id' order by f.feedback_id)
            from pgrag.feedback as f
            where f.search_id = (search_record.search).search_id
        ), '[]'),
        'answer', (
            select pg_catalog.to_jsonb(a) - 'search_id'
            from pgrag.answers as a
            where a.search_id = (search_record.search).search_id
        )
    );
$$;
