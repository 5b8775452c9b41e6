-- The pages of a finished crawl, and those that did not answer, whose stored state must stay.
create or replace function _pgrag.crawled_pages(
    library text,
    version text
)
returns table (
    url text,
    key text,
    media_type text,
    digest text,
    failure text,
    last_modified text
)
language sql
stable
parallel safe
set search_path from current
as $$
    select f.url, f.key, f.media_type, f.digest, f.failure, f.last_modified
    from pgrag.fetched_pages as f
    where f.library = lower(btrim(crawled_pages.library))
        and f.version = lower(btrim(coalesce(crawled_pages.version, '')))
        and (f.outcome = 'page' or f.outcome is null and f.failure is not null)
    order by f.key, f.url;
$$;
