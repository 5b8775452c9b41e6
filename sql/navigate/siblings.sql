-- The documents of the same level under the same parent.
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
    here pgrag.documents := _pgrag.document(siblings.document_id);
    home pgrag.pages := _pgrag.page(here.page_id);
    above pgrag.documents;
    sibling_ids bigint[];
    own_number bigint;
begin
    if (siblings.before >= 0 and siblings.after >= 0) is not true then
        raise exception 'before and after must be at least 0, got % and %.',
            coalesce(siblings.before::text, 'null'), coalesce(siblings.after::text, 'null')
            using errcode = 'PGR01';
    end if;
    select d.*
    into above
    from pgrag.documents as d
    where d.library_id = here.library_id and d.document_id = _pgrag.parent_id(here);
    sibling_ids := case
        when above.document_id is null
        -- Pages without a parent page are siblings if their parent paths are equal.
        then array(
            select _pgrag.page_document(p.library_id, p.page_id)
            from pgrag.pages as p
            where p.library_id = home.library_id
                and p.version_id = home.version_id
                and cardinality(p.path) > 1
                and p.path[:cardinality(p.path) - 1] = _pgrag.path_above(home.path)
            order by p.path, p.key, p.page_id
        )
        else array(
            select d.document_id
            from (
                select above.document_id, home.key as key, above.sort_order
                union all
                select d.document_id, p.key, d.sort_order
                from pgrag.pages as p
                join pgrag.documents as d on d.library_id = p.library_id and d.page_id = p.page_id
                where here.parent_id is not null
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
            cross join lateral unnest(_pgrag.child_ids(parent_row))
                with ordinality as child (document_id, number)
            join pgrag.documents as d
                on d.library_id = home.library_id and d.document_id = child.document_id
            where d.level = here.level
            order by parent.key, parent.sort_order, child.number
        )
    end;
    own_number := array_position(sibling_ids, here.document_id);

    return query
    select p.*
    from unnest(sibling_ids) with ordinality as s (document_id, number)
    cross join lateral _pgrag.passage(
        here.library_id,
        s.document_id,
        case when s.number < own_number then 'before' else 'after' end,
        (s.number - own_number)::integer
    ) as p
    where s.number between own_number - siblings.before and own_number + siblings.after
        and s.number <> own_number
    order by s.number;
end;
$$;

comment on function pgrag.siblings is
'The documents of the same level under the same parent, in reading order, without the document
itself: relation before or after, distance -2, -1, 1, 2 …; before, after: at most this many on each
side. Pages are siblings under the same parent by path or folder, or if their parent paths are
equal. If several pages share a hierarchical path of two or more parts, documents below equal
sections are siblings across these pages, by key. Errors: PGR01, PGR05.';
