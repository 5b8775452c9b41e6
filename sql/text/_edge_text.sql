-- The text of an edge, for embedding and full-text search.
create or replace function _pgrag.edge_text(
    source_title text,
    kind text,
    sentence text,
    target_title text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.concat_ws(
        E'\n',
        nullif(edge_text.source_title, ''),
        nullif(pg_catalog.translate(edge_text.kind, '_', ' '), ''),
        nullif(_pgrag.plain_text(edge_text.sentence), ''),
        nullif(edge_text.target_title, '')
    );
$$;
