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
        -- Sites publish blog/2024-05-01-news.md as /blog/2024/05/01/news, or without the day;
        -- the last part is the file's name, the slug or the words of the title.
        select p.page_id, 'url', f.day || '/' || pgrag._link_name(f.name)
        from pgrag.pages as p
        cross join lateral (
            select regexp_match(
                pgrag._link_name(p.key),
                '(?:^|/)(\d{4})-(\d\d)-(\d\d)[-_ ]([^/]+?)(?:/index)?$'
            ) as parts
        ) as k
        cross join lateral (
            -- As it is written: the day of the author, wherever that was.
            select coalesce(
                replace(
                    substring(p.front_matter ->> 'date', '^\d{4}-\d\d-\d\d'), '-', '/'
                ),
                to_char(p.created at time zone 'UTC', 'YYYY/MM/DD'),
                array_to_string(k.parts[:3], '/')
            ) as whole
        ) as d
        cross join lateral (
            select day, name
            from unnest(array[d.whole, left(d.whole, 7)]) as day
            cross join unnest(
                array[
                    k.parts[4],
                    p.front_matter ->> 'slug',
                    regexp_replace(
                        regexp_replace(p.title, '[^\w\s.-]', '', 'g'), '\s+', '-', 'g'
                    )
                ]
            ) as name
            where name <> ''
        ) as f
        where p.library_id = _names_of_pages.library_id
            and p.page_id = any (_names_of_pages.page_ids)
            and k.parts is not null
        union all
        select p.page_id, o.how, pgrag._link_name(o.name)
        from pgrag.pages as p
        cross join lateral (
            values
                ('title', p.title),
                ('slug', p.front_matter ->> 'slug'),
                ('slug', p.front_matter ->> 'permalink'),
                ('slug', p.front_matter ->> 'id')
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
