-- One step down, also from a page to the pages below it.
create or replace function pgrag.children(
    document_id bigint
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 10
set search_path from current
as $$
declare
    above pgrag.documents := pgrag._document(children.document_id);
    child_ids bigint[] := pgrag._child_ids(above);
begin
    return query
    select *
    from pgrag._passages(
        above.library_id,
        child_ids,
        array_fill('child'::text, array[cardinality(child_ids)]),
        array_fill(1, array[cardinality(child_ids)])
    );
end;
$$;

comment on function pgrag.children(bigint) is
'The documents one level below in reading order: paragraphs and sections, and for a page also the
pages below it by hierarchical path or folder; so for a section, too, that has the path above a
page''s. Errors: PGR05.';

create or replace function pgrag._child_ids(
    above pgrag.documents
)
returns bigint[]
language sql
stable
parallel safe
set search_path from current
as $$
    select array(
        select d.document_id
        from pgrag.documents as d
        where d.library_id = (_child_ids.above).library_id
            and d.parent_id = (_child_ids.above).document_id
        order by d.sort_order, d.document_id
    ) || case
        when (_child_ids.above).level = 1
        then array(
            select pgrag._page_document((_child_ids.above).library_id, child.page_id)
            from unnest(pgrag._pages_below_section(_child_ids.above))
                with ordinality as child (page_id, place)
            order by child.place
        )
    end || case
        when (_child_ids.above).parent_id is null
        then array(
            select pgrag._page_document(p.library_id, child.page_id)
            from pgrag.pages as p
            cross join lateral unnest(pgrag._child_pages(p))
                with ordinality as child (page_id, place)
            where p.library_id = (_child_ids.above).library_id
                and p.page_id = (_child_ids.above).page_id
                and pgrag._page_document(p.library_id, p.page_id)
                    = (_child_ids.above).document_id
            order by child.place
        )
    end;
$$;
