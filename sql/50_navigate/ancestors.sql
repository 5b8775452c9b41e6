-- All steps up, the nearest first; a ring of pages above each other ends where it began.
create or replace function pgrag.ancestors(
    document_id bigint
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 4
set search_path from current
as $$
declare
    here pgrag.documents := pgrag._document(ancestors.document_id);
    seen bigint[] := array[here.document_id];
    above bigint;
begin
    loop
        above := pgrag._parent_id(here);
        exit when above is null or above = any (seen);
        seen := seen || above;
        return query
        select *
        from pgrag._passages(
            here.library_id, array[above], '{ancestor}', array[cardinality(seen) - 1]
        );
        select d.*
        into here
        from pgrag.documents as d
        where d.library_id = here.library_id and d.document_id = above;
    end loop;
end;
$$;

comment on function pgrag.ancestors(bigint) is
'The documents above, the nearest first (distance 1, 2, …): sections, the page, the pages above it.
Errors: PGR05.';
