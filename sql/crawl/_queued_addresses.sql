-- The next addresses of a crawl: by distance from the start, so that limits cut at the same place
-- whatever answers first.
create or replace function _pgrag.queued_addresses(
    library text,
    version text,
    match_count integer default 1000
)
returns table (
    url text,
    depth integer,
    outcome text,
    etag text,
    last_modified text,
    fetched_at timestamptz
)
language sql
stable
parallel safe
set search_path from current
as $$
    with queue as (
        select f.*
        from pgrag.fetched_pages as f
        where f.library = lower(btrim(queued_addresses.library))
            and f.version = lower(btrim(coalesce(queued_addresses.version, '')))
            and f.is_queued
    )
    select q.url, q.depth, q.outcome, q.etag, q.last_modified, q.fetched_at
    from queue as q
    where q.depth = (select min(least.depth) from queue as least)
    order by q.url
    limit greatest(queued_addresses.match_count, 0);
$$;
