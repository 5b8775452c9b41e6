-- Indexed pages are stored as Markdown; what the site sent is not needed again.
create or replace function _pgrag.drop_fetched_bodies(
    library text,
    version text
)
returns void
language sql
volatile
set search_path from current
as $$
    update pgrag.fetched_pages as f
    set body = null
    where f.library = lower(btrim(drop_fetched_bodies.library))
        and f.version = lower(btrim(coalesce(drop_fetched_bodies.version, '')))
        and f.body is not null;
$$;
