-- What an indexing run needs to know about the pages of a version.
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
language sql
stable
parallel safe
set search_path from current
as $$
    select
        p.key, p.source_hash, p.uuid, coalesce(p.modified, p.created), p.path,
        p.reading ->> 'declared'
    from pgrag.libraries as l
    join pgrag.versions as v
        on v.library_id = l.library_id
        and v.label = lower(btrim(coalesce(stored_pages.version, '')))
    join pgrag.pages as p on p.library_id = v.library_id and p.version_id = v.version_id
    where l.name = lower(btrim(stored_pages.library));
$$;

comment on function pgrag.stored_pages is
'The stored pages of one version: key, hash of the source, uuid, date, hierarchical path, and the
type that the front matter names. No rows for a library or version that does not exist.';
