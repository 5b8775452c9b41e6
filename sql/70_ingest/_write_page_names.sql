-- Every name by which links reach a page. What came or went is remembered: the links that use such
-- a name are looked at when links are resolved next.
create or replace function pgrag._write_page_names(
    library_id bigint,
    version_id bigint,
    base_url text,
    page_ids bigint[]
)
returns void
language sql
volatile
set search_path from current
as $$
    with wanted as materialized (
        select n.*
        from pgrag._names_of_pages(
            _write_page_names.library_id, _write_page_names.base_url, _write_page_names.page_ids
        ) as n
    ),
    gone as (
        delete from pgrag.page_names as n
        where n.library_id = _write_page_names.library_id
            and n.page_id = any (_write_page_names.page_ids)
            and not exists (
                select
                from wanted as w
                where w.page_id = n.page_id and w.how = n.how and w.full_name = n.full_name
            )
        returning n.name
    ),
    come as (
        insert into pgrag.page_names as n (
            library_id, version_id, page_id, name, full_name, how
        )
        select
            _write_page_names.library_id,
            _write_page_names.version_id,
            w.page_id,
            w.name,
            w.full_name,
            w.how
        from wanted as w
        on conflict do nothing
        returning n.name
    )
    insert into pgrag.pending_names (library_id, version_id, name)
    select _write_page_names.library_id, _write_page_names.version_id, changed.name
    from (
        select g.name from gone as g
        union
        select c.name from come as c
    ) as changed
    on conflict do nothing;
$$;

-- The names that pages have, whatever is stored of them.
create or replace function pgrag._names_of_pages(
    library_id bigint,
    base_url text,
    page_ids bigint[]
)
returns table (
    page_id bigint,
    how text,
    full_name text,
    name text
)
language sql
stable
parallel safe
set search_path from current
as $$
    with named as (
        select p.page_id, 'path' as how, pgrag._link_name(p.key) as full_name
        from pgrag.pages as p
        where p.library_id = _names_of_pages.library_id
            and p.page_id = any (_names_of_pages.page_ids)
        union all
        -- An absolute address is also reached by what follows its host.
        select p.page_id, 'url', pgrag._link_name(u.url)
        from pgrag.pages as p
        cross join lateral (
            select pgrag.relative_url(
                regexp_replace(p.url, '[?#].*$', ''), _names_of_pages.base_url
            ) as url
            union all
            select regexp_replace(p.url, '^[A-Za-z][A-Za-z0-9+.-]*://|[?#].*$', '', 'g')
            where p.url ~ '^[A-Za-z][A-Za-z0-9+.-]*://'
                and not (
                    _names_of_pages.base_url <> ''
                    and starts_with(p.url, _names_of_pages.base_url)
                )
        ) as u
        where p.library_id = _names_of_pages.library_id
            and p.page_id = any (_names_of_pages.page_ids)
        union all
        -- Blogs publish _posts/2021-07-14-name.md below a date: /2021/07/14/name.
        select
            p.page_id,
            'url',
            pgrag._link_name(
                regexp_replace(p.key, '_posts/.*$', '')
                || replace(left(coalesce(p.front_matter ->> 'date', d.date), 10), '-', '/')
                || '/'
                || n.name
            )
        from pgrag.pages as p
        cross join lateral (
            select regexp_substr(p.key, '\d{4}-\d{2}-\d{2}') as date
        ) as d
        cross join lateral (
            values
                (regexp_substr(p.key, '_posts/(?:.*/)?[\d-]{11}([^/]+)', 1, 1, '', 1)),
                (p.front_matter ->> 'slug'),
                (regexp_replace(regexp_replace(p.title, '[^\w\s.-]', '', 'g'), '\s+', '-', 'g'))
        ) as n (name)
        where p.library_id = _names_of_pages.library_id
            and p.page_id = any (_names_of_pages.page_ids)
            and p.key ~ '(^|/)_posts/'
            and n.name is not null
            and coalesce(p.front_matter ->> 'date', d.date) is not null
        union all
        select p.page_id, o.how, pgrag._link_name(o.name)
        from pgrag.pages as p
        cross join lateral (
            values
                ('title', p.title),
                ('slug', p.front_matter ->> 'slug'),
                ('slug', p.front_matter ->> 'permalink')
            union all
            select 'alias', a.alias
            from unnest(p.aliases) as a (alias)
        ) as o (how, name)
        where p.library_id = _names_of_pages.library_id
            and p.page_id = any (_names_of_pages.page_ids)
            and pgrag._link_name(o.name) <> ''
    )
    select n.page_id, n.how, n.full_name, pgrag._last_name(n.full_name) as name
    from named as n
    union
    -- The page of a folder is reached by the folder.
    select
        n.page_id,
        n.how,
        regexp_replace(n.full_name, '(^|/)(index|_index|readme)$', ''),
        pgrag._last_name(n.full_name)
    from named as n
    where n.how = 'path';
$$;

-- The names of pages that go.
create or replace function pgrag._forget_page_names(
    library_id bigint,
    page_ids bigint[]
)
returns void
language sql
volatile
set search_path from current
as $$
    insert into pgrag.pending_names (library_id, version_id, name)
    select distinct n.library_id, n.version_id, n.name
    from pgrag.page_names as n
    where n.library_id = _forget_page_names.library_id
        and n.page_id = any (_forget_page_names.page_ids)
    on conflict do nothing;
$$;
