-- What was fetched from one address.
create or replace function _pgrag.fetched_body(
    library text,
    version text,
    url text
)
returns bytea
language sql
stable
parallel safe
set search_path from current
as $$
    select f.body
    from pgrag.fetched_pages as f
    where f.library = lower(btrim(fetched_body.library))
        and f.version = lower(btrim(coalesce(fetched_body.version, '')))
        and f.url = fetched_body.url;
$$;
