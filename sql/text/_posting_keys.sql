-- What the index of impacts contains: each lexeme of a document with its version, for searches of
-- few versions, and without, for searches of most of a database. Lexeme ids are below 2^30.
-- Every name is qualified, as in visible_libraries, because a barrier view calls it.
create or replace function _pgrag.posting_keys(
    version_id bigint,
    weights sparsevec
)
returns bigint[]
language sql
immutable
parallel safe
as $$
    select pg_catalog.array_agg(l.id)
        operator(pg_catalog.||) pg_catalog.array_agg(
            posting_keys.version_id operator(pg_catalog.<<) 30 operator(pg_catalog.|) l.id
        )
    from (
        select pg_catalog.split_part(e.element, ':', 1)::bigint as id
        from pg_catalog.unnest(
            pg_catalog.string_to_array(
                pg_catalog.ltrim(
                    pg_catalog.split_part(posting_keys.weights::pg_catalog.text, '/', 1), '{'
                ),
                ','
            )
        ) as e (element)
        -- "offset 0": each id is read once.
        offset 0
    ) as l;
$$;
