create or replace function pgrag.parent(
    document_id anycompatible
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
declare
    child pgrag.documents := _pgrag.passage_named(parent.document_id::text);
begin
    return query
    select * from _pgrag.passage(child.library_id, _pgrag.parent_id(child), 'parent', 1);
end;
$$;

comment on function pgrag.parent is
'The passage one level above: the section of a paragraph, the parent of a section, the page of a top
section, and for a page its parent by hierarchical path (a page, or a section of another page) or by
folder. No row without a parent. Errors: PGR05.';

create or replace function _pgrag.parent_id(
    child pgrag.documents
)
returns bigint
language sql
stable
parallel safe
as $$
    select coalesce(
        (parent_id.child).parent_id,
        (
            select _pgrag.document_above(p)
            from pgrag.pages as p
            where p.library_id = (parent_id.child).library_id
                and p.page_id = (parent_id.child).page_id
        )
    );
$$;
