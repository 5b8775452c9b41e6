create or replace function pgrag.popular_queries(
    days integer default 30,
    library text default null,
    top_k integer default 20
)
returns table (
    query text,
    searches bigint,
    last_at timestamptz,
    empty_share double precision,
    mean_top_score double precision,
    mean_rating double precision,
    median_ms double precision
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
    perform _pgrag.check_count('top_k', popular_queries.top_k);
    return query
    select
        regexp_replace(lower(btrim(s.query)), '\s+', ' ', 'g'),
        count(*),
        max(s.at),
        avg(_pgrag.found_nothing(s.search_id, s.hit_count)::integer)::double precision,
        avg(s.top_score) filter (where s.parameters ->> 'fusion' is distinct from 'rrf'),
        (
            select avg(f.rating)::double precision
            from pgrag.feedback as f
            where f.search_id = any (array_agg(s.search_id))
        ),
        percentile_cont(0.5) within group (order by s.duration_ms)
    from pgrag.searches as s
    where s.at >= observed.since
        and not s.continued
        and (observed.library is null or s.library = observed.library)
    group by 1
    order by count(*) desc, max(s.at) desc, 1
    limit popular_queries.top_k;
end;
$$;

comment on function pgrag.popular_queries is
'The most frequent queries of the last days, in lower case and with single spaces: count, last time,
the share without hits, the mean score of the first hit, the mean rating and the median of the
milliseconds. Errors: PGR01 for days or top_k, PGR02.';
