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
        where p.library_id = count_version.library_id
            and p.version_id = count_version.version_id
    ) as counted
    where v.library_id = count_version.library_id and v.version_id = count_version.version_id;
$$;

-- How many of these pages a version has, and how many documents of them can be found.
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

-- Adds what a batch has changed: a scan for each would make a version's time grow with its square.
create or replace function _pgrag.count_on(
    library_id bigint,
    version_id bigint,
    before bigint[],
    after bigint[]
)
returns void
language sql
volatile
as $$
    update pgrag.versions as v
    set page_count = v.page_count + count_on.after[1] - count_on.before[1],
        document_count = v.document_count + count_on.after[2] - count_on.before[2],
        updated_at = now()
    where v.library_id = count_on.library_id and v.version_id = count_on.version_id;
$$;
