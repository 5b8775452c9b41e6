-- Where links lead is decided here, and nowhere else. Looked at are the links of the pages that
-- were written since the last time, those into them, and those with a name that came or went.
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
    owner_id bigint := pgrag._library_id(resolve_links.library);
    target_id bigint := pgrag._version_id(owner_id, resolve_links.version);
begin
    perform l.library_id
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;
    if resolve_links.whole then
        perform pgrag._write_page_names(
            owner_id,
            target_id,
            pgrag._base_url(owner_id, target_id),
            array(
                select p.page_id
                from pgrag.pages as p
                where p.library_id = owner_id and p.version_id = target_id
            )
        );
    end if;
    return pgrag._resolve_links(owner_id, target_id, coalesce(resolve_links.whole, false));
end;
$$;

comment on function pgrag.resolve_links(text, text, boolean) is
'Connects the links of one version of a library with the pages they lead to, after pages were
written with resolve => false; returns how many edges changed. Only what was written or can lead
elsewhere since the last time is looked at; whole => true looks at everything, and at the names of
all pages. In this order, and for Markdown links path and url before names: the page itself, path
(from the file''s folder, from the root, or the end of it), url, file name, title, alias, slug. Of
several pages the one in the nearest folder is meant; if that does not decide, the edge is ambiguous
and keeps its candidates, at most 100. Errors: PGR02, PGR03.';

create or replace function pgrag._base_url(
    library_id bigint,
    version_id bigint
)
returns text
language sql
stable
parallel safe
set search_path from current
as $$
    select coalesce(v.source ->> 'base_url', '')
    from pgrag.versions as v
    where v.library_id = _base_url.library_id and v.version_id = _base_url.version_id;
$$;

create or replace function pgrag._resolve_links(
    library_id bigint,
    version_id bigint,
    whole boolean default false
)
returns bigint
language plpgsql
volatile
set search_path from current
set work_mem = '128MB'
set jit = off
as $$
declare
    written bigint[] := array(
        select p.page_id
        from pgrag.pending_pages as p
        where p.library_id = _resolve_links.library_id
            and p.version_id = _resolve_links.version_id
    );
    names text[] := array(
        select n.name
        from pgrag.pending_names as n
        where n.library_id = _resolve_links.library_id
            and n.version_id = _resolve_links.version_id
    );
    affected bigint[];
    changed bigint;
begin
    if _resolve_links.whole then
        affected := array(
            select e.edge_id
            from pgrag.edges as e
            where e.library_id = _resolve_links.library_id
                and e.version_id = _resolve_links.version_id
                and e.state <> 'tag'
        );
    else
        affected := array(
            select e.edge_id
            from pgrag.edges as e
            where e.library_id = _resolve_links.library_id
                and e.source_page_id = any (written)
                and e.state <> 'tag'
            union
            -- The sections and chunks of these pages are others now.
            select e.edge_id
            from pgrag.edges as e
            where e.library_id = _resolve_links.library_id
                and e.target_page_id = any (written)
                and e.fragment is not null
            union
            select e.edge_id
            from pgrag.edges as e
            where e.library_id = _resolve_links.library_id
                and e.version_id = _resolve_links.version_id
                -- ".." stands for links whose name depends on the page that they are on.
                and e.name = any (case when names <> '{}' then names || '..'::text end)
                and e.state <> 'tag'
        );
    end if;
    if affected <> '{}' then
        changed := pgrag._connect_edges(
            _resolve_links.library_id,
            _resolve_links.version_id,
            pgrag._base_url(_resolve_links.library_id, _resolve_links.version_id),
            affected
        );
    end if;
    delete from pgrag.pending_pages as p
    where p.library_id = _resolve_links.library_id
        and p.version_id = _resolve_links.version_id;
    delete from pgrag.pending_names as n
    where n.library_id = _resolve_links.library_id
        and n.version_id = _resolve_links.version_id;
    return coalesce(changed, 0);
end;
$$;
