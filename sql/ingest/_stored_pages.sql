-- What an indexing run needs to know about the pages of a version.
create or replace function _pgrag.stored_pages(
    library text,
    version text default '',
    keys text[] default null
)
returns table (
    page_id bigint,
    key text,
    source_hash text,
    uuid text,
    stated timestamptz,
    path text[],
    declared_type text,
    created text,
    created_from text,
    modified text,
    modified_from text
)
language plpgsql
stable
parallel safe
set search_path from current
-- A generic plan cannot use the index on keys.
set plan_cache_mode = force_custom_plan
as $$
declare
    target pgrag.versions;
begin
    select v.*
    into target
    from pgrag.libraries as l
    join pgrag.versions as v
        on v.library_id = l.library_id
        and v.label = lower(btrim(coalesce(stored_pages.version, '')))
    where l.name = lower(btrim(stored_pages.library));
    return query
    select
        p.page_id, p.key, p.source_hash, p.uuid,
        coalesce(
            case when p.modified_from = 'front matter' then p.modified end,
            case when p.created_from = 'front matter' then p.created end
        ),
        p.path, p.reading ->> 'declared', _pgrag.iso_time(p.created), p.created_from,
        _pgrag.iso_time(p.modified), p.modified_from
    from pgrag.pages as p
    where p.library_id = target.library_id
        and p.version_id = target.version_id
        and (
            stored_pages.keys is null
            or p.key = any (stored_pages.keys)
            -- A page keeps its uuid when its key changes.
            or p.uuid is not null
        );
end;
$$;

-- As the readers write times.
create or replace function _pgrag.iso_time(
    moment timestamptz
)
returns text
language sql
stable
parallel safe
as $$
    select to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"');
$$;
