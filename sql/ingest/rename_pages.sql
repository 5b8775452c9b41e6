-- A page keeps its id, and what refers to it, when its source file is renamed.
create or replace function pgrag.rename_pages(
    library text,
    new_keys jsonb,
    version text default ''
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    owner pgrag.libraries := _pgrag.lock_library(rename_pages.library);
    target pgrag.versions;
    fault text;
    page_ids bigint[];
begin
    if jsonb_typeof(rename_pages.new_keys) is distinct from 'object' then
        raise exception 'new_keys must be an object, got %.',
            coalesce(left(rename_pages.new_keys::text, 200), 'null')
            using errcode = 'PGR01', hint = 'For example {"old.md": "folder/new.md"}.';
    end if;
    select v.*
    into target
    from pgrag.versions as v
    where v.library_id = owner.library_id
        and v.version_id = _pgrag.version_id(owner.library_id, rename_pages.version);
    select case
            when btrim(coalesce(k.value, '')) = ''
            then format('The new key of %L is empty.', k.key)
            when count(*) over (partition by k.value) > 1
            then format('Two pages would have the key %L.', k.value)
            when p.page_id is null
            then format('There is no page %L.', k.key)
            when other.page_id is not null
            then format('There is a page %L already.', k.value)
        end as complaint
    into fault
    from jsonb_each_text(rename_pages.new_keys) as k
    left join pgrag.pages as p
        on p.library_id = target.library_id
        and p.version_id = target.version_id
        and p.key = k.key
    left join pgrag.pages as other
        on other.library_id = target.library_id
        and other.version_id = target.version_id
        and other.key = k.value
        and not rename_pages.new_keys ? other.key
    order by complaint
    limit 1;
    if fault is not null then
        raise exception '%', fault
            using errcode = 'PGR01', hint = '_pgrag.stored_pages lists the keys; none was changed.';
    end if;
    page_ids := array(
        select p.page_id
        from pgrag.pages as p
        where p.library_id = target.library_id
            and p.version_id = target.version_id
            and rename_pages.new_keys ->> p.key <> p.key
    );
    -- Two steps, because pages may swap their keys.
    update pgrag.pages as p
    set key = E'\n' || (rename_pages.new_keys ->> p.key), source_hash = ''
    where p.library_id = target.library_id and p.page_id = any (page_ids);
    update pgrag.pages as p
    set key = substr(p.key, 2)
    where p.library_id = target.library_id and p.page_id = any (page_ids);
    perform _pgrag.write_page_names(
        target.library_id, target.version_id, coalesce(target.source ->> 'base_url', ''), page_ids
    );
    -- Links prefer the nearest folder: those to a page in another folder, and its own, may change.
    insert into pgrag.pending_names (library_id, version_id, name)
    select distinct target.library_id, target.version_id, n.name
    from pgrag.page_names as n
    where n.library_id = target.library_id and n.page_id = any (page_ids)
    on conflict do nothing;
    insert into pgrag.pending_pages (library_id, version_id, page_id)
    select target.library_id, target.version_id, r.page_id
    from unnest(page_ids) as r (page_id)
    on conflict do nothing;
    perform _pgrag.resolve_links(target.library_id, target.version_id);
    return cardinality(page_ids);
end;
$$;

comment on function pgrag.rename_pages is
'Gives pages of one version of a library other keys, {"old.md": "new.md", …}; pages may swap theirs.
A page keeps its id and the ids of its passages, and counts as changed: ingest_page with the new key
writes its url and whatever else depends on the name. Links by its title, an alias or its new name
lead to it; links by its old file name are broken. Returns the number of renamed pages. pgrag index
calls it for a file with the uuid (or note_id) of a stored page, if this file is newer or the
page''s own file is gone. Errors: PGR01 (a page that does not exist, a key that is taken), PGR02,
PGR03.';
