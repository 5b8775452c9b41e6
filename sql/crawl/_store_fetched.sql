-- One call stores a batch of answers and queues their links, so a crawl that is killed loses
-- nothing and fetches no page twice.
create or replace function _pgrag.store_fetched(
    library text,
    version text,
    pages jsonb,
    bodies bytea[],
    max_depth integer,
    out queued bigint,
    out too_deep text[]
)
returns record
language plpgsql
volatile
set search_path from current
as $$
declare
    library_name text := lower(btrim(store_fetched.library));
    version_label text := lower(btrim(coalesce(store_fetched.version, '')));
    wrong jsonb;
begin
    if jsonb_typeof(store_fetched.pages) is distinct from 'array' then
        raise exception 'pages must be a list of objects.' using errcode = 'PGR01';
    end if;
    select p.page
    into wrong
    from jsonb_array_elements(store_fetched.pages) as p (page)
    where jsonb_typeof(p.page) <> 'object'
        or jsonb_typeof(p.page -> 'is_kept') not in ('boolean', 'null')
        or not _pgrag.is_list(p.page -> 'links')
        or p.page ->> 'outcome' not in ('page', 'copy', 'moved', 'skipped', 'gone')
    limit 1;
    if found then
        raise exception 'This is not an answer of a site: %.', left(wrong::text, 200)
            using errcode = 'PGR01';
    end if;
    update pgrag.fetched_pages as f
    set is_queued = false, failure = p.failure
    from jsonb_to_recordset(store_fetched.pages) as p (url text, failure text, is_kept boolean)
    where f.library = library_name
        and f.version = version_label
        and f.url = p.url
        and p.is_kept;

    update pgrag.fetched_pages as f
    set (
        is_queued, failure, outcome, reason, key, canonical, media_type, etag, last_modified,
        digest, body, links, fetched_at
    ) = (
        false, null, p.outcome, p.reason, p.key, p.canonical, p.media_type, p.etag, p.last_modified,
        p.digest, store_fetched.bodies[p.nth], coalesce(p.links, '{}'), now()
    )
    from rows from (
        jsonb_to_recordset(store_fetched.pages) as (
            url text, is_kept boolean, outcome text, reason text, key text, canonical text,
            media_type text, etag text, last_modified text, digest text, links text[]
        )
    ) with ordinality as p (
        url, is_kept, outcome, reason, key, canonical, media_type, etag, last_modified, digest,
        links, nth
    )
    where f.library = library_name
        and f.version = version_label
        and f.url = p.url
        and p.is_kept is not true;

    with linked as materialized (
        select l.url, min(f.depth) + 1 as depth
        from jsonb_to_recordset(store_fetched.pages) as p (url text)
        join pgrag.fetched_pages as f
            on f.library = library_name and f.version = version_label and f.url = p.url
        cross join unnest(f.links) as l (url)
        -- A site that answers everything with one page would link from it without end.
        where not exists (
            select from pgrag.fetched_pages as o
            where o.library = f.library
                and o.version = f.version
                and o.digest = f.digest
                and o.outcome = 'page'
                and o.crawl = f.crawl
                and not o.is_queued
                and (o.depth, o.url) < (f.depth, f.url)
        )
        group by l.url
    )
    select
        (
            select coalesce(
                sum(_pgrag.queue_addresses(library_name, version_label, d.urls, d.depth)), 0
            )
            from (
                select array_agg(l.url) as urls, l.depth
                from linked as l
                where l.depth <= store_fetched.max_depth
                group by l.depth
            ) as d
        ),
        array(
            select l.url
            from linked as l
            where l.depth > store_fetched.max_depth
                and not exists (
                    select from pgrag.fetched_pages as f
                    join pgrag.crawls as c
                        on c.library = f.library and c.version = f.version and c.number = f.crawl
                    where f.library = library_name and f.version = version_label and f.url = l.url
                )
        )
    into store_fetched.queued, store_fetched.too_deep;
end;
$$;
