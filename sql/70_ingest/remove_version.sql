-- Statistics go down with the rows; the row of the library is the lock that writers share.
create or replace function pgrag.remove_version(
    library text,
    version text default ''
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(remove_version.library);
    target_id bigint := pgrag._version_id(owner_id, remove_version.version);
    removed bigint;
begin
    perform l.library_id
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;
    removed := pgrag._remove_pages(
        owner_id,
        array(
            select p.page_id
            from pgrag.pages as p
            where p.library_id = owner_id and p.version_id = target_id
        )
    );
    delete from pgrag.versions as v
    where v.library_id = owner_id and v.version_id = target_id;
    return removed;
end;
$$;

comment on function pgrag.remove_version(text, text) is
'Removes one version of a library with its pages, documents and vectors; returns the number of
pages. Errors: PGR02, PGR03.';

create or replace function pgrag.remove_library(
    library text
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(remove_library.library);
    removed bigint;
begin
    perform l.library_id from pgrag.libraries as l where l.library_id = owner_id for update;
    delete from pgrag.lexeme_statistics as s where s.library_id = owner_id;
    delete from pgrag.corpus_statistics as c where c.library_id = owner_id;
    delete from pgrag.embeddings as e where e.library_id = owner_id;
    delete from pgrag.documents as d where d.library_id = owner_id;
    delete from pgrag.pages as p where p.library_id = owner_id;
    get diagnostics removed = row_count;
    delete from pgrag.versions as v where v.library_id = owner_id;
    delete from pgrag.libraries as l where l.library_id = owner_id;
    return removed;
end;
$$;

comment on function pgrag.remove_library(text) is
'Removes a library with all its versions; returns the number of pages. Errors: PGR02.';

create or replace function pgrag.remove_pages(
    library text,
    keys text[],
    version text default ''
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(remove_pages.library);
    target_id bigint := pgrag._version_id(owner_id, remove_pages.version);
    removed bigint;
begin
    perform l.library_id
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;
    removed := pgrag._remove_pages(
        owner_id,
        array(
            select p.page_id
            from pgrag.pages as p
            where p.library_id = owner_id
                and p.version_id = target_id
                and p.key = any (remove_pages.keys)
        )
    );
    perform pgrag._count_version(owner_id, target_id);
    perform pgrag._resolve_links(owner_id, target_id);
    return removed;
end;
$$;

comment on function pgrag.remove_pages(text, text[], text) is
'Removes the pages with these keys from one version of a library, with their documents and vectors;
returns how many there were. Links to them lead elsewhere or become unresolved.
Errors: PGR02, PGR03.';

create or replace function pgrag._remove_pages(
    library_id bigint,
    page_ids bigint[]
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    removed bigint;
begin
    perform pgrag._forget_documents(
        _remove_pages.library_id,
        array(
            select d.document_id
            from pgrag.documents as d
            where d.library_id = _remove_pages.library_id
                and d.page_id = any (_remove_pages.page_ids)
        ),
        (
            select pgrag.effective_settings(l.settings)
            from pgrag.libraries as l
            where l.library_id = _remove_pages.library_id
        )
    );
    perform pgrag._forget_pages(_remove_pages.library_id, _remove_pages.page_ids);
    perform pgrag._forget_page_names(_remove_pages.library_id, _remove_pages.page_ids);
    delete from pgrag.pages as p
    where p.library_id = _remove_pages.library_id and p.page_id = any (_remove_pages.page_ids);
    get diagnostics removed = row_count;
    return removed;
end;
$$;
