-- How two pages hang together: breadth first from both ends, the smaller side next, so that little
-- of a large library is seen before they meet.
create or replace function pgrag.shortest_path(
    from_page bigint,
    to_page bigint,
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
-- A handful of pages or most of the library: each step is planned for what it starts from.
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    start pgrag.pages := pgrag._page(shortest_path.from_page);
    goal pgrag.pages := pgrag._page(shortest_path.to_page);
    -- Pages seen from each end, how each was reached, and those that were seen last.
    seen bigint[] := array[start.page_id];
    vias bigint[] := array[null::bigint];
    edge_ids bigint[] := array[null::bigint];
    front bigint[] := seen;
    goal_seen bigint[] := array[goal.page_id];
    goal_vias bigint[] := vias;
    goal_edge_ids bigint[] := edge_ids;
    goal_front bigint[] := goal_seen;
    backwards text;
    found record;
    meeting bigint := case when start.page_id = goal.page_id then start.page_id end;
begin
    perform pgrag._check_direction(shortest_path.direction);
    perform pgrag._check_range('max_depth', shortest_path.max_depth, 1, 100);
    perform pgrag._require_one_library(start, array[goal.page_id]);
    backwards := case shortest_path.direction
        when 'out' then 'in'
        when 'in' then 'out'
        else 'both'
    end;

    for depth in 1..shortest_path.max_depth loop
        exit when meeting is not null;
        if cardinality(front) <= cardinality(goal_front) then
            found := pgrag._next_pages(
                start.library_id, front, seen, shortest_path.kinds, shortest_path.direction
            );
            front := found.page_ids;
            seen := seen || front;
            vias := vias || found.via_page_ids;
            edge_ids := edge_ids || found.edge_ids;
        else
            found := pgrag._next_pages(
                start.library_id, goal_front, goal_seen, shortest_path.kinds, backwards
            );
            goal_front := found.page_ids;
            goal_seen := goal_seen || goal_front;
            goal_vias := goal_vias || found.via_page_ids;
            goal_edge_ids := goal_edge_ids || found.edge_ids;
        end if;
        exit when cardinality(found.page_ids) = 0;
        meeting := (
            select min(m.page_id)
            from (select unnest(front) intersect select unnest(goal_front)) as m (page_id)
        );
    end loop;
    if meeting is null then
        return;
    end if;

    return query
    with recursive steps as (
        select s.page_id, s.via, s.edge_id, 0 as place
        from unnest(seen, vias, edge_ids) as s (page_id, via, edge_id)
        where s.page_id = meeting
        union all
        select s.page_id, s.via, s.edge_id, w.place - 1
        from steps as w
        join unnest(seen, vias, edge_ids) as s (page_id, via, edge_id) on s.page_id = w.via
    ),
    -- Behind the meeting, an edge belongs to the page that it is followed to.
    further as (
        select s.via as page_id, s.edge_id, 1 as place
        from unnest(goal_seen, goal_vias, goal_edge_ids) as s (page_id, via, edge_id)
        where s.page_id = meeting and s.via is not null
        union all
        select s.via, s.edge_id, w.place + 1
        from further as w
        join unnest(goal_seen, goal_vias, goal_edge_ids) as s (page_id, via, edge_id)
            on s.page_id = w.page_id
        where s.via is not null
    ),
    way as (
        select s.page_id, s.edge_id, s.place from steps as s
        union all
        select f.page_id, f.edge_id, f.place from further as f
    )
    select
        (row_number() over (order by w.place))::integer - 1,
        p.page_id, p.key, p.title, p.url, e.edge_id, e.target_page_id = p.page_id, e.rule, e.kind,
        e.line, e.link_text, e.sentence
    from way as w
    cross join lateral pgrag._page_named(start.library_id, w.page_id) as p
    left join pgrag.edges as e on e.library_id = start.library_id and e.edge_id = w.edge_id
    order by w.place;
end;
$$;

comment on function pgrag.shortest_path(bigint, bigint, integer, text[], text) is
'A shortest way from a page to another along resolved edges, a row for each page on it: step 0 is
from_page; every other row has the edge by which its page is reached, with line and sentence where
it stands, and forward, whether the edge leads to this page or comes from it. direction: out follows
links, in goes against them, both does both. kinds: only edges of these. No rows where there is no
way of at most max_depth steps (1 to 100). Of several ways always the same one, by the strongest
edges (confidence times weight of the kind). Errors: PGR01 also for pages of different versions or
libraries, PGR04.';

-- Each page that is new, with the strongest edge to it.
create or replace function pgrag._next_pages(
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
set search_path from current
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
                and e.library_id = _next_pages.library_id
                and e.source_page_id = any (front)
                and e.target_page_id <> all (seen)
                and (_next_pages.kinds is null or e.kind = any (_next_pages.kinds))
            union all
            select e.source_page_id, e.target_page_id, e.edge_id, e.kind, e.confidence
            from pgrag.edges as e
            where direction <> 'out'
                and e.library_id = _next_pages.library_id
                and e.target_page_id = any (front)
                and e.source_page_id <> all (seen)
                and (_next_pages.kinds is null or e.kind = any (_next_pages.kinds))
        ) as l
        left join pgrag.edge_kinds as k on k.name = l.kind
        order by l.page_id, l.confidence * coalesce(k.weight, 1) desc, l.edge_id
    ) as n;
end;
$$;
