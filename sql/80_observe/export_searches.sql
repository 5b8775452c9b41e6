-- One object a search, with all that belongs to it: what JSON Lines want.
create or replace function pgrag.export_searches(
    since timestamptz default null,
    until timestamptz default null,
    library text default null
)
returns setof jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    wanted text := lower(btrim(export_searches.library));
begin
    return query
    select pgrag._search_record(s)
    from pgrag.searches as s
    where (export_searches.since is null or s.at >= export_searches.since)
        and (export_searches.until is null or s.at < export_searches.until)
        and (wanted is null or s.library = wanted)
    order by s.at, s.search_id;
end;
$$;

comment on function pgrag.export_searches(timestamptz, timestamptz, text) is
'Recorded searches from one moment up to before another (null: from the first, to the last), the
oldest first, each as one JSON object with its hits, their scores, its feedback, and the answer that
was made of it (null: none). library: only searches in this one alone.';

create or replace function pgrag.search_record(
    search_id uuid
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    found_record jsonb;
begin
    select pgrag._search_record(s)
    into found_record
    from pgrag.searches as s
    where s.search_id = search_record.search_id;
    if found_record is null then
        raise exception 'There is no recorded search %.',
            coalesce(search_record.search_id::text, 'null')
            using errcode = 'PGR14',
                hint = 'Pass the search_id of a search that was recorded and not yet forgotten.';
    end if;
    return found_record;
end;
$$;

comment on function pgrag.search_record(uuid) is
'One recorded search as export_searches gives it: with its hits, their scores, and its feedback.
Errors: PGR14.';

create or replace function pgrag._search_record(
    search pgrag.searches
)
returns jsonb
language sql
stable
parallel safe
as $$
    select pg_catalog.to_jsonb(_search_record.search) || pg_catalog.jsonb_build_object(
        'hits',
        (
            select coalesce(
                pg_catalog.jsonb_agg(pg_catalog.to_jsonb(h) - 'search_id' order by h.rank), '[]'
            )
            from pgrag.search_hits as h
            where h.search_id = (_search_record.search).search_id
        ),
        'feedback',
        (
            select coalesce(
                pg_catalog.jsonb_agg(pg_catalog.to_jsonb(f) - 'search_id' order by f.feedback_id),
                '[]'
            )
            from pgrag.feedback as f
            where f.search_id = (_search_record.search).search_id
        ),
        'answer',
        (
            select pg_catalog.to_jsonb(a) - 'search_id'
            from pgrag.answers as a
            where a.search_id = (_search_record.search).search_id
        )
    );
$$;
