-- The text that a model embeds for a passage: a header of title, address and path, then the
-- content. Without version and base address, so that equal passages of two versions share a vector.
create or replace function _pgrag.embedding_text(
    title text,
    url text,
    path text[],
    content text
)
returns text
language plpgsql
immutable
parallel safe
as $$
begin
    return pg_catalog.concat_ws(
        E'\n',
        nullif(embedding_text.title, ''),
        nullif(embedding_text.url, ''),
        nullif(pg_catalog.array_to_string(embedding_text.path, ' / '), ''),
        '',
        _pgrag.plain_text(embedding_text.content)
    );
end;
$$;
