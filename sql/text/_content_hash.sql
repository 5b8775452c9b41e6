-- Equal for texts that differ in spaces and emphasis alone.
create or replace function _pgrag.content_hash(
    content text
)
returns bigint
language sql
immutable
parallel safe
as $$
    select pg_catalog.hashtextextended(
        pg_catalog.translate(content_hash.content, E' \t\r\n*_`>', ''), 0
    );
$$;
