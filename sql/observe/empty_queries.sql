create or replace function pgrag.empty_queries(
    days integer default 30,
    library text default null,
    top_k integer default 20
)
returns table (
    query text,
    library_name text,
    searches bigint,
    last_at timestamptz
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
    perform _pgrag.check_count('top_k', empty_queries.top_k);
    return query
    select
        regexp_replace(lower(btrim(s.query)), '\s+', ' ', 'g'),
        s.library,
        count(*),
        max(s.at)
    from pgrag.searches as s
    where s.at >= observed.since
        and _pgrag.found_nothing(s.search_id, s.hit_count)
        and not s.continued
        and (observed.library is null or s.library = observed.library)
    group by 1, 2
    order by count(*) desc, max(s.at) desc, 1
    limit empty_queries.top_k;
end;
$$;

comment on function pgrag.empty_queries is
'The queries of the last days without hits, the most frequent first: topics that readers look for
and that the documentation lacks or filters exclude. Errors: PGR01 for days or top_k, PGR02.';
