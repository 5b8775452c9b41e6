-- Neighbours under the same parent, of the same level.
create or replace function pgrag.siblings(
    document_id bigint,
    before integer default 1000,
    after integer default 1000
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 10
set search_path from current
as $$
declare
    here pgrag.documents := pgrag._document(siblings.document_id);
    sibling_ids bigint[];
    place integer;
begin
    if (siblings.before >= 0 and siblings.after >= 0) is not true then
        raise exception 'before and after must be at least 0, got % and %.',
            coalesce(siblings.before::text, 'null'), coalesce(siblings.after::text, 'null')
            using errcode = 'PGR01';
    end if;
    select array_agg(s.document_id order by s.place)
    into sibling_ids
    from (
        select d.document_id, child.place
        from pgrag.documents as parent
        cross join lateral unnest(pgrag._child_ids(parent))
            with ordinality as child (document_id, place)
        join pgrag.documents as d
            on d.library_id = parent.library_id and d.document_id = child.document_id
        where parent.library_id = here.library_id
            and parent.document_id = pgrag._parent_id(here)
            and d.level = here.level
    ) as s;
    place := array_position(sibling_ids, here.document_id);

    return query
    select *
    from pgrag._passages(
        here.library_id,
        sibling_ids[greatest(place - siblings.before, 1):place + siblings.after],
        array(
            select case when s < place then 'before' when s > place then 'after' else 'self' end
            from generate_series(
                greatest(place - siblings.before, 1),
                least(place + siblings.after, cardinality(sibling_ids))
            ) as s
        ),
        array(
            select s - place
            from generate_series(
                greatest(place - siblings.before, 1),
                least(place + siblings.after, cardinality(sibling_ids))
            ) as s
        )
    ) as p
    where p.document_id <> here.document_id;
end;
$$;

comment on function pgrag.siblings(bigint, integer, integer) is
'The documents of the same level under the same parent, in reading order, without the document
itself: relation before or after, distance -2, -1, 1, 2 …; at most so many before and after. Pages
are siblings under the page above them. Errors: PGR01, PGR05.';
