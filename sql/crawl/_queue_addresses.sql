-- Adds addresses to the queue of the crawl under way, unless it has reached them already.
create or replace function _pgrag.queue_addresses(
    library text,
    version text,
    urls text[],
    depth integer default 0
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    queued bigint;
begin
    insert into pgrag.fetched_pages as f (library, version, url, crawl, depth)
    select c.library, c.version, u.url, c.number, coalesce(queue_addresses.depth, 0)
    from pgrag.crawls as c
    cross join (
        select distinct each.url
        from unnest(queue_addresses.urls) as each (url)
        where length(each.url) <= 2000
    ) as u
    where c.library = lower(btrim(queue_addresses.library))
        and c.version = lower(btrim(coalesce(queue_addresses.version, '')))
    on conflict on constraint fetched_pages_pkey do update
    set crawl = excluded.crawl, depth = excluded.depth, is_queued = true, failure = null
    where f.crawl < excluded.crawl;
    get diagnostics queued = row_count;
    return queued;
end;
$$;
