create or replace function pgrag.neighbourhood(
    page_id anycompatible,
    depth integer default 1,
    kinds text[] default null,
    direction text default 'both',
    fan_out integer default 50,
    total integer default 500,
    page_ids bigint[] default '{}'
)
returns setof pgrag.neighbour
language plpgsql
stable
parallel safe
rows 500
set search_path from current
as $$
declare
    start pgrag.pages := _pgrag.page(
        coalesce(pgrag.page_id(neighbourhood.page_id::text), neighbourhood.page_ids[1])
    );
    start_ids bigint[] := array_remove(
        start.page_id || array(select unnest(neighbourhood.page_ids)), null
    );
begin
    perform _pgrag.check_choice('direction', neighbourhood.direction, '{in, out, both}');
    perform _pgrag.check_range('depth', neighbourhood.depth, 1, 10);
    perform _pgrag.check_range('fan_out', neighbourhood.fan_out, 1, 1000);
    perform _pgrag.check_range('total', neighbourhood.total, 1, 10000);
    perform _pgrag.require_one_library(start, neighbourhood.page_ids);

    return query
    with recursive reached as materialized (
        select r.*
        from _pgrag.neighbourhood(
            start.library_id, start_ids, neighbourhood.depth, neighbourhood.kinds,
            neighbourhood.direction, neighbourhood.fan_out, neighbourhood.total
        ) as n
        cross join lateral unnest(
            n.page_ids, n.depths, n.weights, n.via_page_ids, n.edge_ids, n.edge_counts, n.forwards
        ) as r (page_id, depth, weight, via_page_id, edge_id, edge_count, forward)
    ),
    ways as (
        select s.page_id, array[s.page_id] as path
        from (select distinct unnest(start_ids)) as s (page_id)
        union all
        select r.page_id, w.path || r.page_id
        from ways as w
        join reached as r on r.via_page_id = w.page_id
    )
    select
        r.page_id, r.depth, p.key, p.title, p.url, r.weight, r.via_page_id, via.key, r.edge_id,
        r.edge_count, r.forward, e.kind, e.line, e.sentence, w.path
    from reached as r
    join ways as w on w.page_id = r.page_id
    cross join lateral _pgrag.page_named(start.library_id, r.page_id) as p
    cross join lateral _pgrag.page_named(start.library_id, r.via_page_id) as via
    join pgrag.edges as e on e.library_id = start.library_id and e.edge_id = r.edge_id
    order by r.depth, r.weight desc, r.page_id;
end;
$$;

comment on function pgrag.neighbourhood is
'The pages reached from a page (with page_ids, from these as well) by resolved edges in at most
depth steps (1 to 10), each once, by the strongest of its shortest paths; the nearest and strongest
pages first. direction: out follows links, in follows them backwards, both does both. kinds: only
edges of these kinds (null: all; a kind that no edge has matches nothing). The weight of an edge is
its confidence times the weight of its kind (pgrag.edge_kinds; default 1); weight is the product
along the path. Each page contributes its fan_out strongest neighbours; at most total pages are
returned. via_page_id, edge_id, kind, line and sentence describe the last step: the page and the
edge (the strongest of edge_count) by which the page was reached; forward: whether the edge leads to
this page or comes from it; path: the ids of the whole path. Errors: PGR01, PGR04.';

-- Edges never leave a version, so pages of two versions or libraries are a mistake of the caller.
create or replace function _pgrag.require_one_library(
    start pgrag.pages,
    page_ids bigint[]
)
returns void
language plpgsql
stable
parallel safe
as $$
declare
    other pgrag.pages;
begin
    select o.*
    into other
    from unnest(page_ids) as starts (page_id)
    cross join lateral _pgrag.page(starts.page_id) as o
    where starts.page_id is not null
        and (o.library_id <> (start).library_id or o.version_id <> (start).version_id)
    limit 1;
    if other.page_id is not null then
        raise exception 'Pages % and % belong to different versions or libraries.',
            (start).page_id, other.page_id
            using errcode = 'PGR01', hint = 'Links connect pages of one version.';
    end if;
end;
$$;
