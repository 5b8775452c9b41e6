-- What is searched and embedded of a document besides its header: what places it on its page, what
-- its page type injects, then its own words. Nothing else may put them together: the hash of this
-- text says whose vector it is. Written with ||, which can be inlined, where concat_ws cannot.
create or replace function pgrag._searched_text(
    situation text,
    context text,
    content text
)
returns text
language sql
immutable
parallel safe
as $$
    select coalesce(nullif(_searched_text.situation, '') || E'\n\n', '')
        || coalesce(nullif(_searched_text.context, '') || E'\n\n', '')
        || _searched_text.content;
$$;
