-- The host says nothing about a page; a version in the base address would make equal texts differ.
create or replace function _pgrag.relative_url(
    url text,
    base_url text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when relative_url.base_url <> ''
            and pg_catalog.starts_with(relative_url.url, relative_url.base_url)
        then pg_catalog.ltrim(
            pg_catalog.substr(relative_url.url, pg_catalog.length(relative_url.base_url) + 1),
            '/'
        )
        else pg_catalog.regexp_replace(relative_url.url, '^[a-z]+://[^/]*/', '')
    end;
$$;
