-- What an indexing run needs to know of a version, and how it ends.
create or replace function pgrag.stored_pages(
    library text,
    version text default ''
)
returns table (
    key text,
    source_hash text,
    uuid text,
    modified timestamptz,
    path text[],
    declared_type text
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
begin
    return query
    select
        p.key, p.source_hash, p.uuid, coalesce(p.modified, p.created), p.path,
        p.reading ->> 'declared'
    from pgrag.libraries as l
    join pgrag.versions as v
        on v.library_id = l.library_id
        and v.label = lower(btrim(coalesce(stored_pages.version, '')))
    join pgrag.pages as p on p.library_id = v.library_id and p.version_id = v.version_id
    where l.name = lower(btrim(stored_pages.library));
end;
$$;

comment on function pgrag.stored_pages(text, text) is
'The pages of one version as they are stored: key, hash of the source, uuid, date, hierarchical
path, and the type that the front matter names. No rows for a library or version that does not
exist.';

create or replace function pgrag.finish_version(
    library text,
    version text default ''
)
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(library);
    target_id bigint := pgrag._version_id(owner_id, version);
begin
    -- Before any other row, as all writers do: in another order two of them would wait in a circle.
    perform l.library_id
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;
    update pgrag.versions as v
    set status = 'ready'
    where v.library_id = owner_id and v.version_id = target_id and v.status <> 'ready';
    if exists (
        select
        from pgrag.pending_pages as p
        where p.library_id = owner_id and p.version_id = target_id
    ) or exists (
        select
        from pgrag.pending_names as n
        where n.library_id = owner_id and n.version_id = target_id
    ) then
        perform pgrag.resolve_links(library, version);
    end if;
    if pgrag._ranks_are_outdated(owner_id, target_id) then
        perform pgrag.refresh_page_ranks(library, version);
    end if;
    if exists (
        select
        from pgrag.libraries as l
        where l.library_id = owner_id and l.settings -> 'anchor_texts' = 'true'
    ) then
        perform pgrag.refresh_anchor_texts(library, version);
    end if;
    -- What was written waits beside the index, where every search reads it: merge it, where the
    -- caller owns the index (others leave it to autovacuum).
    perform gin_clean_pending_list(i.oid)
    from pg_class as i
    where i.oid = 'pgrag.documents_search'::regclass
        and pg_has_role(i.relowner, 'usage');
end;
$$;

comment on function pgrag.finish_version(text, text) is
'Says that a version is indexed completely: from now on it can be the newest one. Also connects the
links that were written (see resolve_links), ranks the pages anew where links have come or gone (see
refresh_page_ranks), brings the words of links up to date where the library''s setting anchor_texts
is on (see refresh_anchor_texts), and merges what was written into the full-text index.
Errors: PGR02, PGR03.';
