-- The links from or to a page, as [[links]]; one without a target page as it is written.
create or replace function _pgrag.page_links(
    library_id bigint,
    page_id bigint,
    is_outgoing boolean
)
returns jsonb
language sql
stable
parallel safe
as $$
    select coalesce(jsonb_agg(l.link order by l.link), '[]')
    from (
        select _pgrag.page_link(s.key) as link
        from pgrag.edges as e
        join pgrag.pages as s on s.library_id = e.library_id and s.page_id = e.source_page_id
        where not page_links.is_outgoing
            and e.library_id = page_links.library_id
            and e.target_page_id = page_links.page_id
            and e.how is distinct from 'self'
        union
        select coalesce(_pgrag.page_link(t.key), to_jsonb('[[' || e.target || ']]'))
        from pgrag.edges as e
        left join pgrag.pages as t on t.library_id = e.library_id and t.page_id = e.target_page_id
        where page_links.is_outgoing
            and e.library_id = page_links.library_id
            and e.source_page_id = page_links.page_id
            and e.state in ('resolved', 'unresolved', 'ambiguous')
            and e.how is distinct from 'self'
    ) as l;
$$;

create or replace function _pgrag.page_link(
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
            when pg_catalog.right(page_link.key, 3) = '.md'
            then pg_catalog.left(page_link.key, -3)
            else pg_catalog.regexp_replace(page_link.key, '\.(md|mdx|markdown)$', '', 'i')
        end
        || ']]'
    );
$$;

-- Tags as #a/b; with all levels also #a.
create or replace function _pgrag.page_tags(
    tags text[],
    has_levels boolean
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select coalesce(jsonb_agg(l.tag order by l.tag collate "C"), '[]')
    from (
        select distinct '#' || array_to_string(t.levels[:n], '/') as tag
        from unnest(page_tags.tags) as tag
        cross join lateral string_to_array(tag, '/') as t (levels)
        cross join generate_series(1, cardinality(t.levels)) as n
        where page_tags.has_levels or n = cardinality(t.levels)
    ) as l;
$$;
