create or replace function pgrag.search_history(
    days integer default 30,
    library text default null,
    top_k integer default 20,
    slowest boolean default false,
    rated boolean default false
)
returns table (
    search_id uuid,
    at timestamptz,
    client text,
    library_name text,
    version text,
    query text,
    hit_count integer,
    top_score double precision,
    duration_ms double precision,
    timings jsonb,
    parameters jsonb,
    mean_rating double precision
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    observed record := _pgrag.observed(days, library);
begin
    perform _pgrag.check_count('top_k', search_history.top_k);
    return query
    select
        s.search_id, s.at, s.client, s.library, s.version, s.query, s.hit_count, s.top_score,
        s.duration_ms, s.timings, s.parameters,
        (
            select avg(f.rating)::double precision
            from pgrag.feedback as f
            where f.search_id = s.search_id
        )
    from pgrag.searches as s
    where s.at >= observed.since and (observed.library is null or s.library = observed.library)
        and (
            not coalesce(search_history.rated, false)
            or exists (select from pgrag.feedback as f where f.search_id = s.search_id)
        )
    order by
        case when search_history.slowest then s.duration_ms end desc nulls last,
        s.at desc,
        s.search_id
    limit search_history.top_k;
end;
$$;

comment on function pgrag.search_history is
'Recorded searches of the last days, the latest first, or with slowest the slowest first; with rated
only those that were rated. timings: milliseconds by step. Errors: PGR01 for days or top_k, PGR02.';
