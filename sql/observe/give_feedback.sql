-- Ratings are only inserted, never updated: a changed opinion is another row.
create or replace function pgrag.give_feedback(
    search_id uuid,
    rating integer,
    document_id anycompatible default null::text,
    comment text default null
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    new_id bigint;
    rated_id constant bigint := (
        select pgrag.passage_id(give_feedback.document_id::text, s.library, s.version)
        from pgrag.searches as s
        where s.search_id = give_feedback.search_id
    );
begin
    perform _pgrag.check_range('rating', rating, 1, 5);
    if length(give_feedback.comment) > 10000 then
        raise exception 'A comment has at most 10,000 characters, not %.',
            length(give_feedback.comment)
            using errcode = 'PGR01', hint = 'Shorten it.';
    end if;
    -- Only for its error of an unknown search.
    perform pgrag.search_record(give_feedback.search_id);
    if rated_id is not null and not exists (
        select
        from pgrag.search_hits as h
        where h.search_id = give_feedback.search_id
            and h.document_id = rated_id
    ) then
        raise exception 'Passage % is not a hit of search %.',
            rated_id, give_feedback.search_id
            using errcode = 'PGR05',
                hint = 'Pass the document_id of one of its hits, or none for the whole answer.';
    end if;
    insert into pgrag.feedback as f (search_id, document_id, rating, comment)
    values (
        give_feedback.search_id, rated_id, give_feedback.rating,
        nullif(btrim(give_feedback.comment), '')
    )
    returning f.feedback_id into new_id;
    return new_id;
end;
$$;

comment on function pgrag.give_feedback is
'Rates one hit of a recorded search (document_id), or its answer as a whole (null), from 1 (useless)
to 5 (exactly what was asked for); returns the id of the rating. Ratings accumulate; none is
replaced. document_id: an id or a key (see passage_id). Errors: PGR01 for rating or comment, PGR05
for a passage that is not a hit of the search, PGR14 for an unknown search.';
