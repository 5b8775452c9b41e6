-- Counts anew instead of keeping running totals: one scan of a version is fast and cannot drift.
create or replace function _pgrag.count_version(
    library_id bigint,
    version_id bigint
)
returns void
language sql
volatile
as $$
    update pgrag.versions as v
    set page_count = counted.page_count,
        document_count = counted.document_count,
        updated_at = now()
    from (
        select count(*) as page_count, coalesce(sum(p.document_count), 0) as document_count
        from pgrag.pages as p
        where p.library_id = count_version.library_id
            and p.version_id = count_version.version_id
    ) as counted
    where v.library_id = count_version.library_id and v.version_id = count_version.version_id;
$$;
