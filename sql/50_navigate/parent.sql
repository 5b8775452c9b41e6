-- One step up, also from a page to the page above it, or to the section of a page.
create or replace function pgrag.parent(
    document_id bigint
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
declare
    child pgrag.documents := pgrag._document(parent.document_id);
    parent_id bigint := pgrag._parent_id(child);
begin
    if parent_id is not null then
        return query
        select * from pgrag._passages(child.library_id, array[parent_id], '{parent}', '{1}');
    end if;
end;
$$;

comment on function pgrag.parent(bigint) is
'The document one level above: the section of a paragraph, the section above a section, the page
above a top section, and for a page what is above it by hierarchical path (a page, or a section of
another page) or by folder. No row where there is none. Errors: PGR05.';

create or replace function pgrag._parent_id(
    child pgrag.documents
)
returns bigint
language sql
stable
parallel safe
set search_path from current
as $$
    select coalesce(
        (_parent_id.child).parent_id,
        (
            select pgrag._document_above(p)
            from pgrag.pages as p
            where p.library_id = (_parent_id.child).library_id
                and p.page_id = (_parent_id.child).page_id
        )
    );
$$;
