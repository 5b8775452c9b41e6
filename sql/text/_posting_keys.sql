-- What the index of impacts contains: each lexeme of a passage, and again (bit 30) if its posting
-- is strong; with its version, for searches of few versions, and without, for searches of most of a
-- database. Lexeme ids are below 2^30. Every name is qualified, as in visible_libraries, because a
-- barrier view calls it.
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
        operator(pg_catalog.||) pg_catalog.array_agg(l.of_version)
        operator(pg_catalog.||) pg_catalog.array_agg(
            l.id operator(pg_catalog.|) (1::bigint operator(pg_catalog.<<) 30)
        ) filter (where l.is_strong)
        operator(pg_catalog.||) pg_catalog.array_agg(
            l.of_version operator(pg_catalog.|) (1::bigint operator(pg_catalog.<<) 30)
        ) filter (where l.is_strong)
    from (
        select
            i.id, i.is_strong,
            posting_keys.version_id operator(pg_catalog.<<) 31 operator(pg_catalog.|) i.id
                as of_version
        from (
            select
                pg_catalog.split_part(e.element, ':', 1)::bigint as id,
                pg_catalog.split_part(e.element, ':', 2)::real operator(pg_catalog.>=) 1.8::real
                    as is_strong
            from pg_catalog.string_to_table(
                pg_catalog.btrim(
                    pg_catalog.split_part(posting_keys.weights::pg_catalog.text, '/', 1), '{}'
                ),
                ','
            ) as e (element)
            -- "offset 0": each is read once.
            offset 0
        ) as i
        offset 0
    ) as l;
$$;

-- The least impact of a strong posting in posting_keys. About a tenth are strong: of titles, short
-- passages and repeated words, with the default k1 of 1.2, which allows impacts up to 2.2.
create or replace function _pgrag.strong_impact()
returns real
language sql
immutable
parallel safe
as $$
    select 1.8::real;
$$;
