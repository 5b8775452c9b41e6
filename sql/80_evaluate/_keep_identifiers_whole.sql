-- For a copy of a library that shows what splitting identifiers is worth: useEffect stays one word.
-- The next indexing of a changed page splits its identifiers again.
create or replace function pgrag._keep_identifiers_whole(
    library text
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(_keep_identifiers_whole.library);
    changed bigint;
begin
    update pgrag.documents as d
    set search = pgrag.search_vector(
        d.language,
        p.title,
        array_remove(d.path, p.title),
        pgrag.relative_url(p.url, ''),
        pgrag._searched_text(d.situation, d.context, d.content),
        d.library_id,
        d.version_id,
        camel_case => false
    )
    from pgrag.pages as p
    where d.library_id = owner_id
        and p.library_id = owner_id
        and p.page_id = d.page_id
        and d.search is not null;
    get diagnostics changed = row_count;
    perform pgrag.refresh_statistics(_keep_identifiers_whole.library, drift => 0);
    return changed;
end;
$$;
