-- What a model reads of a document: a header of title, address and path, then the content. No
-- version and no base address in it, so that equal text in two versions shares one vector.
create or replace function pgrag.embedding_text(
    title text,
    url text,
    path text[],
    content text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.concat_ws(
        E'\n',
        nullif(embedding_text.title, ''),
        nullif(embedding_text.url, ''),
        nullif(pg_catalog.array_to_string(embedding_text.path, ' / '), ''),
        '',
        pgrag.plain_text(embedding_text.content)
    );
$$;

comment on function pgrag.embedding_text(text, text, text[], text) is
'The text whose vector stands for a document: title, url and path (joined with " / ") on a line
each, an empty line, the content with links reduced to their words.';
