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
    home record;
begin
    if parts is null then
        raise exception 'This is not the key of a passage: %.',
            coalesce(quote_literal(left(find_document.chunk_key, 200)), 'null')
            using errcode = 'PGR01',
                hint = 'A page, "#c" and a number, as in guide/install.md#c3 (chunk_key of a hit).';
    end if;
    select f.* into home from pgrag.find_page(library, parts[1], version) as f;
    return query
    select p.*
    from pgrag.documents as d
    cross join lateral _pgrag.passage(d.library_id, d.document_id) as p
    where d.library_id = home.page_id >> 33
        and d.page_id = home.page_id
        and d.sort_order = parts[2]::integer;
    if not found then
        raise exception 'Page % has no passage %.', quote_literal(home.key), 'c' || parts[2]
            using errcode = 'PGR05',
                hint = 'The page may have changed; its outline lists what it has now.';
    end if;
end;
$$;

comment on function pgrag.find_document is
'One passage by its key: a page (its key, or whatever find_page takes, such as a uuid), "#c" and its
sort_order, as chunk_key of a hit says: guide/install.md#c3. library, version: as in find_page.
Errors: PGR01, PGR02, PGR03, PGR04, PGR05.';
