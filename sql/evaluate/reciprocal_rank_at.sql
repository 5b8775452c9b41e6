-- 1 / the rank of the first relevant result (grade above 0), 0 if the first k ranks have none; the
-- mean over queries is MRR.
create or replace function pgrag.reciprocal_rank_at(
    grades integer[],
    k integer default null
)
returns double precision
language sql
immutable
parallel safe
as $$
    select coalesce(
        (
            select 1.0::double precision / min(g.nth)
            from pg_catalog.unnest(
                reciprocal_rank_at.grades[:coalesce(reciprocal_rank_at.k, 2147483647)]
            )
                with ordinality as g (grade, nth)
            where g.grade > 0
        ),
        0
    );
$$;

comment on function pgrag.reciprocal_rank_at is
'1 / the rank of the first relevant result (grade above 0), 0 if the first k ranks have none; the
mean over queries is MRR. k: null for the whole list.';
