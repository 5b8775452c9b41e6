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
    owner pgrag.libraries := _pgrag.lock_library(library);
    owner_id bigint := owner.library_id;
    target_id bigint := _pgrag.version_id(owner_id, version);
begin
    update pgrag.versions as v
    set status = 'ready'
    where v.library_id = owner_id and v.version_id = target_id and v.status <> 'ready';
    if _pgrag.has_pending_links(owner_id, target_id) then
        perform pgrag.resolve_links(library, version);
    end if;
    if _pgrag.ranks_are_outdated(owner_id, target_id) is distinct from false then
        perform pgrag.refresh_page_ranks(library, version);
    end if;
    if (owner.settings ->> 'anchor_texts')::boolean then
        perform pgrag.refresh_anchor_texts(library, version);
    end if;
    perform _pgrag.refresh_impacts(owner_id, owner.settings);
    perform _pgrag.describe_version(owner_id, target_id);
    -- New rows are in the pending lists of the indexes, which every search scans: merge them if the
    -- caller owns the indexes (otherwise autovacuum will).
    perform gin_clean_pending_list(i.oid)
    from pg_class as i
    where i.oid in (
            'pgrag.documents_search'::regclass, 'pgrag.pages_search'::regclass,
            'pgrag.versions_search'::regclass, 'pgrag.impacts_keys'::regclass
        )
        and pg_has_role(i.relowner, 'usage');
end;
$$;

comment on function pgrag.finish_version is
'Marks a version as completely indexed: from now on it can be the newest one. Also resolves pending
links (see resolve_links), recomputes page ranks if links were added or removed (see
refresh_page_ranks), updates the words of links if the library''s setting anchor_texts is on (see
refresh_anchor_texts), rewrites the impacts if the average length has changed (see
refresh_statistics), describes the version for pgrag.find_libraries if pages have changed, and
merges the pending lists of the full-text indexes. Errors: PGR02, PGR03.';
