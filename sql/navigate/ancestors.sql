-- All ancestors, the nearest first; a cycle of parent pages ends where it began.
create or replace function pgrag.ancestors(
    document_id anycompatible
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 4
set search_path from current
as $$
declare
    here pgrag.documents := _pgrag.passage_named(ancestors.document_id::text);
    seen bigint[] := array[here.document_id];
    above bigint;
begin
    loop
        above := _pgrag.parent_id(here);
        exit when above is null or above = any (seen);
        seen := seen || above;
        return query
        select *
        from _pgrag.passage(here.library_id, above, 'ancestor', cardinality(seen) - 1);
        here := _pgrag.document(above);
    end loop;
end;
$$;

comment on function pgrag.ancestors is
'The ancestors of a passage, nearest first (distance 1, 2, …): sections, the page, parent pages.
Errors: PGR05.';
