-- The fields of a full-text vector are its four labels, which BM25F weighs by the library's
-- field_weights and a query asks by word:A. The first migration has a copy.
create or replace function _pgrag.weighted_vector(
    title tsvector,
    path tsvector,
    url tsvector,
    content tsvector
)
returns tsvector
language sql
immutable
parallel safe
as $$
    select pg_catalog.setweight(weighted_vector.title, 'A')
        operator(pg_catalog.||) pg_catalog.setweight(weighted_vector.path, 'B')
        operator(pg_catalog.||) pg_catalog.setweight(weighted_vector.url, 'C')
        operator(pg_catalog.||) pg_catalog.setweight(weighted_vector.content, 'D');
$$;
