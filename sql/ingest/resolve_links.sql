-- Stores the links of new pages with their targets, and decides anew those of other pages written
-- since the last call, of links to fragments of written pages, and of links with an added or
-- removed name.
create or replace function pgrag.resolve_links(
    library text,
    version text default '',
    whole boolean default false
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := (_pgrag.lock_library(resolve_links.library)).library_id;
    target_id bigint := _pgrag.version_id(owner_id, resolve_links.version);
begin
    if resolve_links.whole then
        perform _pgrag.write_page_names(
            owner_id, target_id, _pgrag.base_url(owner_id, target_id),
            array(
                select p.page_id
                from pgrag.pages as p
                where p.library_id = owner_id and p.version_id = target_id
            )
        );
    end if;
    return _pgrag.resolve_links(owner_id, target_id, coalesce(resolve_links.whole, false));
end;
$$;

comment on function pgrag.resolve_links is
'Resolves the links of one version of a library to pages, after pages were written with resolve =>
false; returns how many edges are new or changed. Only links that are new or may have a new target
since the last call are considered; whole => true considers all links and recomputes the names of
all pages.
Order of precedence, for Markdown links path and url before names: the page itself, path (from the
file''s folder, from the root, or its end), url, file name, title, alias, slug. Of several pages
one that is written like the link (case, suffix, query) wins, then the one in the nearest folder; if
several are equally near, the edge is ambiguous and keeps its candidates, at most 100. Errors:
PGR02, PGR03.';

create or replace function _pgrag.base_url(
    library_id bigint,
    version_id bigint
)
returns text
language sql
stable
parallel safe
as $$
    select coalesce(v.source ->> 'base_url', '')
    from pgrag.versions as v
    where v.library_id = base_url.library_id and v.version_id = base_url.version_id;
$$;

create or replace function _pgrag.resolve_links(
    library_id bigint,
    version_id bigint,
    whole boolean default false
)
returns bigint
language plpgsql
volatile
set work_mem = '128MB'
set jit = off
as $$
declare
    written bigint[] := array(
        select p.page_id
        from pgrag.pending_pages as p
        where p.library_id = resolve_links.library_id and p.version_id = resolve_links.version_id
    );
    names text[] := array(
        select n.name
        from pgrag.pending_names as n
        where n.library_id = resolve_links.library_id and n.version_id = resolve_links.version_id
    );
    base_url constant text := _pgrag.base_url(library_id, version_id);
    -- The last edge that is stored already.
    stored_until constant bigint := (
        select l.library_id << 33 | l.last_id
        from pgrag.libraries as l
        where l.library_id = resolve_links.library_id
    );
    affected bigint[];
    batch bigint[];
    added bigint := 0;
    changed bigint := 0;
begin
    for batch in
        select array_agg(p.page_id)
        from (
            select p.page_id, row_number() over (order by p.page_id) as nth
            from pgrag.pending_pages as p
            where p.library_id = resolve_links.library_id
                and p.version_id = resolve_links.version_id
                and p.edges is not null
        ) as p
        group by p.nth / 500
        order by p.nth / 500
    loop
        added := added + _pgrag.write_edges(library_id, version_id, base_url, batch);
    end loop;
    if resolve_links.whole then
        affected := array(
            select e.edge_id
            from pgrag.edges as e
            where e.library_id = resolve_links.library_id
                and e.version_id = resolve_links.version_id
                and e.state <> 'tag'
                and e.edge_id <= stored_until
        );
    else
        affected := array(
            select e.edge_id
            from pgrag.edges as e
            where e.library_id = resolve_links.library_id
                and e.source_page_id = any (written)
                and e.state <> 'tag'
                and e.edge_id <= stored_until
            union
            -- These pages were rewritten: the passages that fragments name may have changed.
            select e.edge_id
            from pgrag.edges as e
            where e.library_id = resolve_links.library_id
                and e.target_page_id = any (written)
                and e.fragment is not null
                and e.edge_id <= stored_until
            union
            select e.edge_id
            from pgrag.edges as e
            where e.library_id = resolve_links.library_id
                and e.version_id = resolve_links.version_id
                -- ".." marks links whose name depends on the page that they are on.
                and e.name = any (case when names <> '{}' then names || '..'::text end)
                and e.state <> 'tag'
                and e.edge_id <= stored_until
        );
    end if;
    if affected <> '{}' then
        update pgrag.edges as e
        set (state, how, target_page_id, target_document_id, fragment_found, candidates) = (
            c.state, c.how, c.target_page_id, c.target_document_id, c.fragment_found, c.candidates
        )
        from _pgrag.stored_connections(
            resolve_links.library_id, resolve_links.version_id, base_url, affected
        ) as c
        where e.library_id = resolve_links.library_id and e.edge_id = c.edge_id;
        get diagnostics changed = row_count;
    end if;
    delete from pgrag.pending_pages as p
    where p.library_id = resolve_links.library_id and p.version_id = resolve_links.version_id;
    delete from pgrag.pending_names as n
    where n.library_id = resolve_links.library_id and n.version_id = resolve_links.version_id;
    return added + changed;
end;
$$;
