-- What the index of impacts contains: each lexeme of a document with its version, for searches of
-- few versions, and without, for searches of most of a database. Lexeme ids are below 2^30.
create or replace function _pgrag.posting_keys(
    version_id bigint,
    weights sparsevec
)
returns bigint[]
language sql
immutable
parallel safe
as $$
    select pg_catalog.array_agg(v.id << 30 | pg_catalog.split_part(e.element, ':', 1)::bigint)
    from pg_catalog.unnest(
        pg_catalog.string_to_array(
            pg_catalog.ltrim(pg_catalog.split_part(posting_keys.weights::text, '/', 1), '{'), ','
        )
    ) as e (element)
    cross join (values (0::bigint), (posting_keys.version_id)) as v (id);
$$;
