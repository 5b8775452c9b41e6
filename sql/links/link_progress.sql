-- Distinguishes a version without faulty links from a version whose links were not read yet.
create or replace function pgrag.link_progress(
    library text,
    version text default null
)
returns table (
    label text,
    is_finished boolean,
    unread_pages bigint
)
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
#variable_conflict use_column
declare
    owner_id bigint := _pgrag.library_id(link_progress.library);
begin
    return query
    select
        v.label,
        v.status = 'ready'
        and not exists (
            select
            from pgrag.pending_pages as p
            where p.library_id = v.library_id and p.version_id = v.version_id
        )
        and not exists (
            select
            from pgrag.pending_names as n
            where n.library_id = v.library_id and n.version_id = v.version_id
        ),
        cardinality(_pgrag.unread_pages(v.library_id, v.version_id))::bigint
    from pgrag.resolve_version(link_progress.library, link_progress.version) as r
    join pgrag.versions as v on v.library_id = owner_id and v.version_id = r.version_id;
end;
$$;

comment on function pgrag.link_progress is
'The progress of the links of a version (the newest by default): whether it is completely indexed
and all of its links are resolved, and how many of its pages were indexed by a release that did not
read links, so that their edges are missing until they are indexed again. No row if there is no
version. Errors: PGR02, PGR03.';

-- Reading the links of a page also writes its names: without names, the links are unread.
create or replace function _pgrag.unread_pages(
    library_id bigint,
    version_id bigint
)
returns bigint[]
language sql
stable
parallel safe
as $$
    select array(
        select p.page_id
        from pgrag.pages as p
        where p.library_id = unread_pages.library_id
            and p.version_id = unread_pages.version_id
            and not exists (
                select
                from pgrag.page_names as n
                where n.library_id = p.library_id and n.page_id = p.page_id
            )
    );
$$;
