create or replace function pgrag.document(
    document_id anycompatible
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
begin
    return query
    select p.*
    from _pgrag.passage_named(document.document_id::text) as d
    cross join lateral _pgrag.passage(d.library_id, d.document_id) as p;
end;
$$;

comment on function pgrag.document is
'One passage with its page, version and library. Errors: PGR05.';
