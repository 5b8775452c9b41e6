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
    sibling_ids := pgrag._sibling_ids(here);
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
are siblings under what is above them by path or folder, or because one path is above them. Where
several pages have one hierarchical path of two or more parts, the documents below it are siblings
over the border of their pages, by key. Errors: PGR01, PGR05.';

create or replace function pgrag._sibling_ids(
    here pgrag.documents
)
returns bigint[]
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    home pgrag.pages;
    above pgrag.documents;
begin
    select p.*
    into home
    from pgrag.pages as p
    where p.library_id = (_sibling_ids.here).library_id
        and p.page_id = (_sibling_ids.here).page_id;
    select d.*
    into above
    from pgrag.documents as d
    where d.library_id = (_sibling_ids.here).library_id
        and d.document_id = pgrag._parent_id(_sibling_ids.here);
    if above.document_id is null then
        -- No page is above these, and yet they stand side by side.
        return array(
            select pgrag._page_document(p.library_id, p.page_id)
            from pgrag.pages as p
            where p.library_id = home.library_id
                and p.version_id = home.version_id
                and cardinality(p.path) > 1
                and p.path[:cardinality(p.path) - 1] = pgrag._path_above(home.path)
            order by p.path, p.key, p.page_id
        );
    end if;
    return array(
        select d.document_id
        from (
            select above.document_id, home.key as key, above.sort_order
            union all
            select d.document_id, p.key, d.sort_order
            from pgrag.pages as p
            join pgrag.documents as d on d.library_id = p.library_id and d.page_id = p.page_id
            where (_sibling_ids.here).parent_id is not null
                and cardinality(home.path) > 1
                and p.library_id = home.library_id
                and p.version_id = home.version_id
                and p.page_id <> home.page_id
                and p.path = home.path
                and d.level = above.level
                and d.path = above.path
        ) as parent
        join pgrag.documents as parent_row
            on parent_row.library_id = home.library_id
            and parent_row.document_id = parent.document_id
        cross join lateral unnest(pgrag._child_ids(parent_row))
            with ordinality as child (document_id, place)
        join pgrag.documents as d
            on d.library_id = home.library_id and d.document_id = child.document_id
        where d.level = (_sibling_ids.here).level
        order by parent.key, parent.sort_order, child.place
    );
end;
$$;
