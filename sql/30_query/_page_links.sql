-- The pages that link to a page, or that it links to, as [[links]]; a link without a page, as it is
-- written.
create or replace function pgrag._page_links(
    library_id bigint,
    page_id bigint,
    is_outgoing boolean
)
returns jsonb
language sql
stable
parallel safe
set search_path from current
as $$
    select coalesce(jsonb_agg(l.link order by l.link), '[]')
    from (
        select pgrag._page_link(s.key) as link
        from pgrag.edges as e
        join pgrag.pages as s on s.library_id = e.library_id and s.page_id = e.source_page_id
        where not _page_links.is_outgoing
            and e.library_id = _page_links.library_id
            and e.target_page_id = _page_links.page_id
            and e.how is distinct from 'self'
        union
        select coalesce(pgrag._page_link(t.key), to_jsonb('[[' || e.target || ']]'))
        from pgrag.edges as e
        left join pgrag.pages as t on t.library_id = e.library_id and t.page_id = e.target_page_id
        where _page_links.is_outgoing
            and e.library_id = _page_links.library_id
            and e.source_page_id = _page_links.page_id
            and e.state in ('resolved', 'unresolved', 'ambiguous')
            and e.how is distinct from 'self'
    ) as l;
$$;

create or replace function pgrag._page_link(
    key text
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select pg_catalog.to_jsonb(
        '[['
        || case
            when pg_catalog.right(_page_link.key, 3) = '.md'
            then pg_catalog.left(_page_link.key, -3)
            else pg_catalog.regexp_replace(_page_link.key, '\.(md|mdx|markdown)$', '', 'i')
        end
        || ']]'
    );
$$;

-- #a/b, and with all levels #a as well.
create or replace function pgrag._page_tags(
    tags text[],
    has_levels boolean
)
returns jsonb
language sql
immutable
parallel safe
set search_path from current
as $$
    select coalesce(jsonb_agg(l.tag order by l.tag collate "C"), '[]')
    from (
        select distinct '#' || array_to_string((string_to_array(t.tag, '/'))[:n], '/') as tag
        from unnest(_page_tags.tags) as t (tag)
        cross join generate_series(1, cardinality(string_to_array(t.tag, '/'))) as n
        where _page_tags.has_levels or n = cardinality(string_to_array(t.tag, '/'))
    ) as l;
$$;

-- The pages that a [[link]] of a query names: by path, else by file name, title or alias.
create or replace function pgrag._pages_called(
    library_id bigint,
    version_id bigint,
    name text
)
returns bigint[]
language sql
stable
parallel safe
set search_path from current
as $$
    select array(
        select n.page_id
        from (
            select c.page_id, rank() over (order by c.distance) as place
            from (
                select
                    p.page_id,
                    case
                        when pgrag._link_path(to_jsonb(p.key)) = _pages_called.name then 0
                        when right(
                            '/' || pgrag._link_path(to_jsonb(p.key)),
                            length(_pages_called.name) + 1
                        ) = '/' || _pages_called.name
                        then 1
                        when lower(p.title) = _pages_called.name then 2
                        when exists (
                            select from unnest(p.aliases) as a where lower(a) = _pages_called.name
                        )
                        then 3
                    end as distance
                from pgrag.pages as p
                where p.library_id = _pages_called.library_id
                    and p.version_id = _pages_called.version_id
            ) as c
            where c.distance is not null
        ) as n
        where n.place = 1
        order by n.page_id
    );
$$;
