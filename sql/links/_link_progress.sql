-- Tells a version without faulty links from one whose links are not resolved yet.
create or replace function _pgrag.link_progress(
    library text,
    version text default null
)
returns table (
    label text,
    is_finished boolean
)
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
declare
    owner_id bigint := _pgrag.library_id(link_progress.library);
begin
    return query
    select
        v.label,
        v.status = 'ready' and not _pgrag.has_pending_links(v.library_id, v.version_id)
    from pgrag.resolve_version(link_progress.library, link_progress.version) as r
    join pgrag.versions as v on v.library_id = owner_id and v.version_id = r.version_id;
end;
$$;

-- Whether links of a version wait for resolve_links.
create or replace function _pgrag.has_pending_links(
    library_id bigint,
    version_id bigint
)
returns boolean
language sql
stable
parallel safe
as $$
    select exists (
        select from pgrag.pending_pages as p
        where p.library_id = has_pending_links.library_id
            and p.version_id = has_pending_links.version_id
    ) or exists (
        select from pgrag.pending_names as n
        where n.library_id = has_pending_links.library_id
            and n.version_id = has_pending_links.version_id
    );
$$;
