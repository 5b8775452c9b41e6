-- Stores every name by which links reach a page. Added and removed names become pending: the next
-- resolve_links reconsiders the links that use them.
create or replace function _pgrag.write_page_names(
    library_id bigint,
    version_id bigint,
    base_url text,
    page_ids bigint[]
)
returns void
language sql
volatile
as $$
    with required as materialized (
        select n.*
        from _pgrag.names_of_pages(
            write_page_names.library_id, write_page_names.base_url, write_page_names.page_ids
        ) as n
    ),
    gone as (
        delete from pgrag.page_names as n
        where n.library_id = write_page_names.library_id
            and n.page_id = any (write_page_names.page_ids)
            and not exists (
                select from required as w
                where w.page_id = n.page_id and w.how = n.how and w.full_name = n.full_name
            )
        returning n.name
    ),
    come as (
        insert into pgrag.page_names as n (
            library_id, version_id, page_id, name, full_name, how
        )
        select
            write_page_names.library_id, write_page_names.version_id, w.page_id, w.name,
            w.full_name, w.how
        from required as w
        on conflict do nothing
        returning n.name
    )
    insert into pgrag.pending_names (library_id, version_id, name)
    select write_page_names.library_id, write_page_names.version_id, changed.name
    from (
        select g.name from gone as g
        union
        select c.name from come as c
    ) as changed
    on conflict do nothing;
$$;

-- Computes the names of pages, regardless of the stored ones.
create or replace function _pgrag.names_of_pages(
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
as $$
    with named as (
        select p.page_id, n.how, n.full_name
        from pgrag.pages as p
        cross join lateral (
            select o.how, _pgrag.link_name(o.name)
            from (
                values
                    ('path', p.key),
                    (
                        'url',
                        _pgrag.relative_url(
                            regexp_replace(p.url, '[?#].*$', ''), names_of_pages.base_url
                        )
                    ),
                    ('title', p.title),
                    ('slug', p.front_matter ->> 'slug'),
                    ('slug', p.front_matter ->> 'permalink'),
                    ('slug', p.front_matter ->> 'id')
            ) as o (how, name)
            union all
            select 'alias', _pgrag.link_name(a.alias)
            from unnest(p.aliases) as a (alias)
            union all
            -- A page with an absolute address is also reached by the address without its scheme.
            select
                'url',
                _pgrag.link_name(
                    regexp_replace(p.url, '^[A-Za-z][A-Za-z0-9+.-]*://|[?#].*$', '', 'g')
                )
            where p.url ~ '^[A-Za-z][A-Za-z0-9+.-]*://'
                and not (
                    names_of_pages.base_url <> ''
                    and starts_with(p.url, names_of_pages.base_url)
                )
            union all
            -- Sites publish blog/2024-05-01-news.md as /blog/2024/05/01/news, or without the day;
            -- the last part is the file's name, the slug or the words of the title.
            select 'url', f.day || '/' || _pgrag.link_name(f.name)
            from (
                select regexp_match(
                    _pgrag.link_name(p.key), '(?:^|/)(\d{4})-(\d\d)-(\d\d)[-_ ]([^/]+?)(?:/index)?$'
                ) as parts
            ) as k
            cross join lateral (
                -- The date as written: the author's local day, whatever the time zone.
                select coalesce(
                    replace(substring(p.front_matter ->> 'date', '^\d{4}-\d\d-\d\d'), '-', '/'),
                    to_char(p.created at time zone 'UTC', 'YYYY/MM/DD'),
                    array_to_string(k.parts[:3], '/')
                ) as whole
            ) as d
            cross join lateral (
                select day, name
                from unnest(array[d.whole, left(d.whole, 7)]) as day
                cross join unnest(
                    array[
                        k.parts[4], p.front_matter ->> 'slug',
                        regexp_replace(
                            regexp_replace(p.title, '[^\w\s.-]', '', 'g'), '\s+', '-', 'g'
                        )
                    ]
                ) as name
                where name <> ''
            ) as f
            where k.parts is not null
        ) as n (how, full_name)
        where p.library_id = names_of_pages.library_id
            and p.page_id = any (names_of_pages.page_ids)
            and (n.how in ('path', 'url') or n.full_name <> '')
    )
    select n.page_id, n.how, n.full_name, _pgrag.last_name(n.full_name) as name
    from named as n
    union
    -- An index page is also reached by the name of its folder.
    select
        n.page_id, n.how,
        regexp_replace(n.full_name, '(^|/)(index|_index|readme)$', ''),
        _pgrag.last_name(n.full_name)
    from named as n
    where n.how = 'path';
$$;
