-- A version without edges looks like one without faults: here is what tells them apart.
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
    owner_id bigint := pgrag._library_id(link_progress.library);
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
        (
            select count(*)
            from pgrag.pages as p
            where p.library_id = v.library_id
                and p.version_id = v.version_id
                -- Whatever reads the links of a page also writes its names.
                and not exists (
                    select
                    from pgrag.page_names as n
                    where n.library_id = p.library_id and n.page_id = p.page_id
                )
        )
    from pgrag.resolve_version(link_progress.library, link_progress.version) as r
    join pgrag.versions as v on v.library_id = owner_id and v.version_id = r.version_id;
end;
$$;

comment on function pgrag.link_progress(text, text) is
'How far the links of a version are: whether it is indexed to its end and all of its links are
connected, and how many of its pages were indexed before links were read, so that edges from them
are missing until they are indexed again. Without a version, of the newest. No row where there is no
version. Errors: PGR02, PGR03.';
