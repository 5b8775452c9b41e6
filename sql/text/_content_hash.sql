-- Equal for texts that differ in spaces and emphasis alone. Null for a few words: under different
-- headings they say different things.
create or replace function _pgrag.content_hash(
    content text
)
returns bigint
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.length(t.bare) >= 40 then pg_catalog.hashtextextended(t.bare, 0)
    end
    from (
        -- replace() is several times as fast as translate().
        select pg_catalog.replace(
            pg_catalog.replace(
                pg_catalog.replace(
                    pg_catalog.replace(
                        pg_catalog.replace(content_hash.content, ' ', ''), E'\n', ''
                    ),
                    '*', ''
                ),
                '_', ''
            ),
            '`', ''
        ) as bare
        offset 0
    ) as t;
$$;
