-- 1 if a relevant result (grade above 0) is in the first k ranks, else 0; the mean over queries is
-- the share of answered queries.
create or replace function pgrag.hit_rate_at(
    grades integer[],
    k integer default null
)
returns double precision
language sql
immutable
parallel safe
as $$
    select (pgrag.reciprocal_rank_at(hit_rate_at.grades, hit_rate_at.k) > 0)
        ::integer::double precision;
$$;

comment on function pgrag.hit_rate_at is
'1 if a relevant result (grade above 0) is in the first k ranks, else 0; the mean over queries is
the share of answered queries. k: null for the whole list.';
