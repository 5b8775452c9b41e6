create or replace function pgrag.judgements_from_feedback(
    library text default null,
    days integer default null
)
returns table (
    library_name text,
    query text,
    page_key text,
    grade integer,
    mean_rating double precision,
    ratings bigint
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    observed record := _pgrag.observed(coalesce(days, 36500), library);
begin
    return query
    select
        h.library, asked.query, h.page_key,
        greatest(round(avg(f.rating))::integer - 2, 0),
        avg(f.rating)::double precision,
        count(*)
    from pgrag.feedback as f
    join pgrag.searches as s on s.search_id = f.search_id
    join pgrag.search_hits as h
        on h.search_id = f.search_id and h.document_id = f.document_id
    cross join lateral (
        select regexp_replace(lower(btrim(s.query)), '\s+', ' ', 'g') as query
    ) as asked
    where h.page_key is not null
        and (observed.library is null or h.library = observed.library)
        and f.at >= observed.since
    group by h.library, asked.query, h.page_key
    order by h.library, asked.query, 4 desc, h.page_key;
end;
$$;

comment on function pgrag.judgements_from_feedback is
'Graded relevance of pages, from the ratings of single hits: for each query (in lower case, with
single spaces) and page the mean rating of its hits, rounded, minus 2 and at least 0. So 5 becomes
grade 3, 4 becomes 2, 3 becomes 1, and ratings of 1 or 2 mean not relevant. library: only this one;
days: only ratings of this many days up to now. Ratings of whole answers are ignored. Errors:
PGR01 for days, PGR02.';
