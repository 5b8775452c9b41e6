create or replace function pgrag.library_versions(
    library text
)
returns table (
    version text,
    version_id bigint,
    class text,
    status text,
    is_newest boolean,
    pages integer,
    documents integer,
    source jsonb,
    updated_at timestamptz
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    owner_id bigint := _pgrag.library_id(library_versions.library);
begin
    return query
    select
        v.label, v.version_id, v.class, v.status,
        v.version_id = (
            select r.version_id from pgrag.resolve_version(library_versions.library) as r
        ),
        v.page_count, v.document_count, v.source - '{arguments, head}'::text[], v.updated_at
    from pgrag.versions as v
    where v.library_id = owner_id
    order by v.release_key desc nulls last, v.label;
end;
$$;

comment on function pgrag.library_versions is
'The versions of a library, releases first, the newest on top: label (empty for unversioned), class
(semver, partial, tag, unversioned), status (indexing, ready), whether it is the one that a search
without a version uses, pages, searchable passages, source. Errors: PGR02.';
