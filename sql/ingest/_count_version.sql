-- Counts anew, by one scan of a version.
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
        where p.library_id = count_version.library_id and p.version_id = count_version.version_id
    ) as counted
    where v.library_id = count_version.library_id and v.version_id = count_version.version_id;
$$;

-- The number of these pages in a version, and of their searched passages.
create or replace function _pgrag.counted(
    library_id bigint,
    version_id bigint,
    keys text[]
)
returns bigint[]
language sql
stable
parallel safe
as $$
    select array[count(*), coalesce(sum(p.document_count), 0)]
    from unnest(counted.keys) as k (key)
    -- "offset 0": one lookup by key per page, never a scan of the version.
    cross join lateral (
        select p.document_count
        from pgrag.pages as p
        where p.library_id = counted.library_id
            and p.version_id = counted.version_id
            and p.key = k.key
        offset 0
    ) as p;
$$;
