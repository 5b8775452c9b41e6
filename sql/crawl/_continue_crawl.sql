-- Lets the next run go on with a crawl whose pages are not all indexed yet, instead of asking the
-- site for each of them again.
create or replace function _pgrag.continue_crawl(
    library text,
    version text
)
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    perform _pgrag.require_lease();
    update pgrag.crawls as c
    set finished_at = null
    where c.library = lower(btrim(continue_crawl.library))
        and c.version = lower(btrim(coalesce(continue_crawl.version, '')));
end;
$$;
