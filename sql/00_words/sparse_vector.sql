-- Two lexemes may share an index (a billion indexes, some hundred thousand lexemes: a few pairs in
-- a library); their values add up, which keeps every bound an upper bound.
create or replace function pgrag._sparse_vector(
    indexes integer[],
    impacts real[]
)
returns sparsevec
language sql
immutable
parallel safe
as $$
    select pg_catalog.concat(
        '{',
        pg_catalog.string_agg(element.index::text || ':' || element.impact::text, ','),
        '}/1000000000'
    )::sparsevec
    from (
        select e.index, sum(e.impact) as impact
        from unnest(_sparse_vector.indexes, _sparse_vector.impacts) as e (index, impact)
        group by e.index
    ) as element;
$$;
