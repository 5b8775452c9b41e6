-- The share of relevant results (grade above 0) in the first k ranks; missing results count as not
-- relevant.
create or replace function pgrag.precision_at(
    grades integer[],
    k integer default null
)
returns double precision
language sql
immutable
parallel safe
as $$
    select coalesce(
        _pgrag.relevant_count(precision_at.grades, precision_at.k)::double precision
            / nullif(coalesce(precision_at.k, pg_catalog.cardinality(precision_at.grades)), 0),
        0
    );
$$;

comment on function pgrag.precision_at is
'The share of relevant results (grade above 0) in the first k ranks; missing results count as not
relevant. k: null for the number of returned results.';

create or replace function _pgrag.relevant_count(
    grades integer[],
    k integer default null
)
returns bigint
language sql
immutable
parallel safe
as $$
    select count(*)
    from pg_catalog.unnest(
        relevant_count.grades[:coalesce(relevant_count.k, 2147483647)]
    ) as g (grade)
    where g.grade > 0;
$$;
