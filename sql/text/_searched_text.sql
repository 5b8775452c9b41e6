-- The indexed and embedded text of a passage without its header: its situation on the page, the
-- context that its page type injects, and its content. Only this function may join them, because
-- the hash of this text identifies the vector. || can be inlined, concat_ws cannot.
create or replace function _pgrag.searched_text(
    situation text,
    context text,
    content text
)
returns text
language sql
immutable
parallel safe
as $$
    select coalesce(nullif(searched_text.situation, '') || E'\n\n', '')
        || coalesce(nullif(searched_text.context, '') || E'\n\n', '')
        || searched_text.content;
$$;
