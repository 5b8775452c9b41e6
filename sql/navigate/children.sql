create or replace function pgrag.children(
    document_id anycompatible
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 10
set search_path from current
as $$
declare
    above pgrag.documents := _pgrag.passage_named(children.document_id::text);
begin
    return query
    select p.*
    from unnest(_pgrag.child_ids(above)) with ordinality as c (document_id, nth)
    cross join lateral _pgrag.passage(above.library_id, c.document_id, 'child', 1) as p
    order by c.nth;
end;
$$;

comment on function pgrag.children is
'The passages one level below in reading order: paragraphs and sections; for a page also its child
pages by hierarchical path or folder; for a section also the pages whose parent path it has. Errors:
PGR05.';

create or replace function _pgrag.child_ids(
    above pgrag.documents
)
returns bigint[]
language sql
stable
parallel safe
as $$
    select array(
        select d.document_id
        from pgrag.documents as d
        where d.library_id = (child_ids.above).library_id
            and d.parent_id = (child_ids.above).document_id
        order by d.sort_order, d.document_id
    ) || array(
        select _pgrag.page_document(p.library_id, p.page_id)
        from pgrag.pages as p
        where (child_ids.above).level = 1
            and p.library_id = (child_ids.above).library_id
            and p.version_id = (child_ids.above).version_id
            and p.page_id <> (child_ids.above).page_id
            and cardinality(p.path) > 1
            and p.path[:cardinality(p.path) - 1] = (child_ids.above).path
            and _pgrag.document_above(p) = (child_ids.above).document_id
        order by p.path, p.key, p.page_id
    ) || (
        select _pgrag.child_page_documents(p)
        from pgrag.pages as p
        where (child_ids.above).parent_id is null
            and p.library_id = (child_ids.above).library_id
            and p.page_id = (child_ids.above).page_id
            and _pgrag.page_document(p.library_id, p.page_id) = (child_ids.above).document_id
    );
$$;
