-- Bidirectional breadth-first search that always expands the smaller frontier, so only a small part
-- of a large library is read.
create or replace function pgrag.shortest_path(
    from_page anycompatible,
    to_page anycompatible,
    max_depth integer default 8,
    kinds text[] default null,
    direction text default 'out'
)
returns table (
    step integer,
    page_id bigint,
    key text,
    title text,
    url text,
    edge_id bigint,
    forward boolean,
    rule text,
    kind text,
    line integer,
    link_text text,
    sentence text
)
language plpgsql
stable
parallel safe
rows 5
set search_path from current
-- A frontier may be a few pages or most of the library: each step gets its own plan.
set plan_cache_mode = force_custom_plan
set jit = off
as $$
declare
    start pgrag.pages := _pgrag.page(pgrag.page_id(shortest_path.from_page::text));
    goal pgrag.pages := _pgrag.page(pgrag.page_id(shortest_path.to_page::text));
    -- From each end: the pages seen, the page and edge that reached each, and the frontier.
    seen bigint[] := array[start.page_id];
    vias bigint[] := array[null::bigint];
    edge_ids bigint[] := vias;
    front bigint[] := seen;
    goal_seen bigint[] := array[goal.page_id];
    goal_vias bigint[] := vias;
    goal_edge_ids bigint[] := vias;
    goal_front bigint[] := goal_seen;
    backwards constant text := case shortest_path.direction
        when 'out' then 'in'
        when 'in' then 'out'
        else 'both'
    end;
    reached record;
    meeting bigint := case when start.page_id = goal.page_id then start.page_id end;
    number integer;
    path bigint[];
    path_edge_ids bigint[] := '{}';
begin
    perform _pgrag.check_choice('direction', shortest_path.direction, '{in, out, both}');
    perform _pgrag.check_range('max_depth', shortest_path.max_depth, 1, 100);
    perform _pgrag.require_one_library(start, array[goal.page_id]);

    for depth in 1..shortest_path.max_depth loop
        exit when meeting is not null;
        if cardinality(front) <= cardinality(goal_front) then
            reached := _pgrag.next_pages(
                start.library_id, front, seen, shortest_path.kinds, shortest_path.direction
            );
            front := reached.page_ids;
            seen := seen || front;
            vias := vias || reached.via_page_ids;
            edge_ids := edge_ids || reached.edge_ids;
        else
            reached := _pgrag.next_pages(
                start.library_id, goal_front, goal_seen, shortest_path.kinds, backwards
            );
            goal_front := reached.page_ids;
            goal_seen := goal_seen || goal_front;
            goal_vias := goal_vias || reached.via_page_ids;
            goal_edge_ids := goal_edge_ids || reached.edge_ids;
        end if;
        exit when cardinality(reached.page_ids) = 0;
        meeting := (
            select min(m.page_id)
            from (select unnest(front) intersect select unnest(goal_front)) as m (page_id)
        );
    end loop;
    if meeting is null then
        return;
    end if;

    path := array[meeting];
    loop
        number := array_position(seen, path[1]);
        path_edge_ids := edge_ids[number] || path_edge_ids;
        exit when vias[number] is null;
        path := vias[number] || path;
    end loop;
    -- After the meeting page, each edge is stored with the page that it is followed to.
    loop
        number := array_position(goal_seen, path[cardinality(path)]);
        exit when goal_vias[number] is null;
        path := path || goal_vias[number];
        path_edge_ids := path_edge_ids || goal_edge_ids[number];
    end loop;
    return query
    select
        w.nth::integer - 1,
        p.page_id, p.key, p.title, p.url, e.edge_id, e.target_page_id = p.page_id, e.rule, e.kind,
        e.line, e.link_text, e.sentence
    from unnest(path, path_edge_ids) with ordinality as w (page_id, edge_id, nth)
    cross join lateral _pgrag.page_named(start.library_id, w.page_id) as p
    left join pgrag.edges as e on e.library_id = start.library_id and e.edge_id = w.edge_id
    order by w.nth;
end;
$$;

comment on function pgrag.shortest_path is
'A shortest path from a page to another along resolved edges, a row for each page of the path: step
0 is from_page; every other row has the edge by which its page is reached, with the edge''s line and
sentence, and forward, whether the edge leads to this page or comes from it. direction: out follows
links, in follows them backwards, both does both. kinds: only edges of these kinds. No rows if there
is no path of at most max_depth steps (1 to 100). Of several paths the choice is deterministic, by
the strongest edges (confidence times weight of the kind). Errors: PGR01, also for pages of
different versions or libraries; PGR04.';

-- The pages not seen before, each with the strongest edge to it.
create or replace function _pgrag.next_pages(
    library_id bigint,
    front bigint[],
    seen bigint[],
    kinds text[],
    direction text,
    out page_ids bigint[],
    out via_page_ids bigint[],
    out edge_ids bigint[]
)
returns record
language plpgsql
stable
parallel safe
set plan_cache_mode = force_custom_plan
set jit = off
set work_mem = '32MB'
as $$
begin
    select
        coalesce(array_agg(n.page_id order by n.page_id), '{}'),
        coalesce(array_agg(n.via_page_id order by n.page_id), '{}'),
        coalesce(array_agg(n.edge_id order by n.page_id), '{}')
    into page_ids, via_page_ids, edge_ids
    from (
        select distinct on (l.page_id) l.page_id, l.via_page_id, l.edge_id
        from (
            select
                e.target_page_id as page_id, e.source_page_id as via_page_id, e.edge_id, e.kind,
                e.confidence
            from pgrag.edges as e
            where direction <> 'in'
                and e.library_id = next_pages.library_id
                and e.source_page_id = any (front)
                and e.target_page_id <> all (seen)
                and (next_pages.kinds is null or e.kind = any (next_pages.kinds))
            union all
            select e.source_page_id, e.target_page_id, e.edge_id, e.kind, e.confidence
            from pgrag.edges as e
            where direction <> 'out'
                and e.library_id = next_pages.library_id
                and e.target_page_id = any (front)
                and e.source_page_id <> all (seen)
                and (next_pages.kinds is null or e.kind = any (next_pages.kinds))
        ) as l
        left join pgrag.edge_kinds as k on k.name = l.kind
        order by l.page_id, l.confidence * coalesce(k.weight, 1) desc, l.edge_id
    ) as n;
end;
$$;
