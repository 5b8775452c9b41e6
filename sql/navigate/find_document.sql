-- A passage by the key that its hits carry, which outlives the ids of a database.
create or replace function pgrag.find_document(
    library text,
    chunk_key text,
    version text default null
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
declare
    parts text[] := regexp_match(btrim(find_document.chunk_key), '^(.+)#c(\d{1,9})$');
begin
    if parts is null then
        raise exception 'This is not the key of a passage: %.',
            coalesce(quote_literal(left(find_document.chunk_key, 200)), 'null')
            using errcode = 'PGR01',
                hint = 'A page, "#c" and a number, as in guide/install.md#c3 (chunk_key of a hit).';
    end if;
    return query
    select p.*
    from pgrag.passage_id(chunk_key, library, version) as f (id)
    cross join lateral _pgrag.passage(f.id >> 33, f.id) as p;
end;
$$;

comment on function pgrag.find_document is
'One passage by its key: a page (its key, or whatever find_page takes, such as a uuid), "#c" and its
sort_order, as chunk_key of a hit says: guide/install.md#c3. library, version: as in find_page.
Errors: PGR01, PGR02, PGR03, PGR04, PGR05.';
