-- What an edge says, for models and for words: who says it, how, in which sentence, of whom.
create or replace function pgrag.edge_text(
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
        nullif(pgrag.plain_text(edge_text.sentence), ''),
        nullif(edge_text.target_title, '')
    );
$$;

comment on function pgrag.edge_text(text, text, text, text) is
'The text whose vector stands for an edge: title of the source page, kind (depends_on is written
"depends on"), the sentence of the link without addresses, title of the target page, a line each.';
