-- Each page stores the part of the configuration that it was read with, so a change that affects
-- the page is detected without its source.
create or replace function pgrag.outdated_pages(
    wanted text default null
)
returns table (
    library text,
    version text,
    pages bigint,
    total bigint,
    source jsonb
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    perform _pgrag.library_id(outdated_pages.wanted) where outdated_pages.wanted is not null;
    return query
    with patterns as materialized (
        select f.page_type, f.pattern, f.nth from _pgrag.folder_patterns() as f
    ),
    -- One combined expression is as fast as a single pattern, and mostly shows that none matches.
    any_pattern as materialized (
        select string_agg(f.pattern, '|') as pattern
        from patterns as f
    ),
    -- key and reading may be stored out of line (TOAST): copies are fetched only once.
    stored as materialized (
        select
            p.library_id, p.version_id, concat(p.key) as key,
            jsonb_strip_nulls(coalesce(p.reading, jsonb_build_object('declared', p.type)))
                as reading,
            v.source ->> 'chunk_profile' is not null as is_profile_given
        from pgrag.libraries as l
        join pgrag.versions as v on v.library_id = l.library_id
        join pgrag.pages as p on p.library_id = v.library_id and p.version_id = v.version_id
        where v.source ? 'location'
            and (outdated_pages.wanted is null or l.name = lower(btrim(outdated_pages.wanted)))
    ),
    -- Pages of a version that were read with the same configuration and have the same type now.
    groups as (
        select
            s.library_id, s.version_id, s.reading, s.is_profile_given, s.page_type,
            count(*) as pages
        from (
            select
                s.*,
                case
                    when s.reading ->> 'declared' is null and s.key ~ a.pattern
                    then (
                        select f.page_type
                        from patterns as f
                        where s.key ~ f.pattern
                        order by f.nth
                        limit 1
                    )
                end as page_type
            from stored as s
            cross join any_pattern as a
        ) as s
        group by s.library_id, s.version_id, s.reading, s.is_profile_given, s.page_type
    ),
    counted as (
        select
            g.library_id, g.version_id,
            coalesce(sum(g.pages) filter (where g.reading is distinct from r.reading), 0)::bigint
                as pages,
            sum(g.pages)::bigint as total
        from groups as g
        left join lateral (
            select y.*
            from pgrag.page_types as y
            where y.name in (lower(coalesce(g.reading ->> 'declared', g.page_type)), 'default')
            order by y.name = 'default'
            limit 1
        ) as t on true
        -- What decides how a page is read, as in src/pgrag/ingest/matter/page_types.py.
        cross join lateral (
            select jsonb_strip_nulls(
                jsonb_build_object(
                    'declared', g.reading ->> 'declared',
                    'type', case when g.reading ->> 'declared' is null then g.page_type end,
                    'chunk_profile',
                    case when not g.is_profile_given then nullif(t.chunk_profile, 'medium') end,
                    'entry', case when t.edge_defaults <> '{}' then t.name end,
                    'edge_defaults', nullif(to_jsonb(t.edge_defaults), '[]'),
                    'link_keys', nullif(to_jsonb(t.link_keys), '[]'),
                    'inject', nullif(to_jsonb(t.inject), '[]')
                )
            ) as reading
        ) as r
        group by g.library_id, g.version_id
    )
    select l.name, v.label, c.pages, c.total, v.source
    from counted as c
    join pgrag.libraries as l on l.library_id = c.library_id
    join pgrag.versions as v on v.library_id = c.library_id and v.version_id = c.version_id
    where c.pages > 0
    order by l.name, v.version_id;
end;
$$;

comment on function pgrag.outdated_pages is
'The versions with pages that were read before their page types changed: number of these pages,
number of all pages, and the stored source. `pgrag index --changed-config` reads them again. wanted:
only this library; null: all. Weights apply at query time, so changing them outdates no page.
Versions without a source are not listed. Errors: PGR02.';
