-- The pages around some pages, by breadth-first search, level by level as arrays, so that no page
-- is visited twice and cycles end. Of equally strong pages, those around the first page of the
-- previous level come first, in the order of its links.
create or replace function _pgrag.neighbourhood(
    library_id bigint,
    start_ids bigint[],
    max_depth integer,
    kinds text[],
    direction text,
    fan_out integer,
    total integer,
    out page_ids bigint[],
    out depths integer[],
    out weights double precision[],
    out via_page_ids bigint[],
    out edge_ids bigint[],
    out edge_counts bigint[],
    out forwards boolean[]
)
returns record
language plpgsql
stable
parallel safe
-- The planner would plan anew for the arrays of each call.
set plan_cache_mode = force_generic_plan
as $$
declare
    -- Each start once, at its first place.
    start_pages constant bigint[] := array(
        select u.page_id
        from unnest(start_ids) with ordinality as u (page_id, nth)
        group by u.page_id
        order by min(u.nth)
    );
    level_ids bigint[] := start_pages;
    level_weights double precision[] := array_fill(1.0, array[cardinality(start_pages)]);
    step record;
begin
    page_ids := '{}';
    for level in 1..max_depth loop
        select
            array_agg(b.page_id) as page_ids,
            array_agg(b.weight) as weights,
            array_agg(level_ids[b.via_nth]) as via_page_ids,
            array_agg(b.edge_id) as edge_ids,
            array_agg(b.edge_count) as edge_counts,
            array_agg(b.forward) as forwards
        into step
        from (
            select way.*
            from (
                select distinct on (n.page_id)
                    n.page_id, n.via_nth, level_weights[n.via_nth] * n.weight as weight, n.place,
                    n.edge_id, n.edge_count, n.forward
                from _pgrag.linked_pages(library_id, level_ids, kinds, direction, fan_out) as n
                where n.page_id <> all (start_pages) and n.page_id <> all (page_ids)
                order by
                    n.page_id, level_weights[n.via_nth] * n.weight desc, n.edge_count desc,
                    n.via_nth
            ) as way
            order by way.weight desc, way.via_nth, way.place, way.page_id
            limit total - cardinality(page_ids)
        ) as b;
        exit when step.page_ids is null;
        page_ids := page_ids || step.page_ids;
        depths := depths || array_fill(level, array[cardinality(step.page_ids)]);
        weights := weights || step.weights;
        via_page_ids := via_page_ids || step.via_page_ids;
        edge_ids := edge_ids || step.edge_ids;
        edge_counts := edge_counts || step.edge_counts;
        forwards := forwards || step.forwards;
        level_ids := step.page_ids;
        level_weights := step.weights;
    end loop;
end;
$$;

-- One step from each of some pages, the strongest edges first, of equal ones the first on their
-- page; the strongest edge between two pages represents all. Without a set clause, so that it
-- inlines.
create or replace function _pgrag.linked_pages(
    library_id bigint,
    from_page_ids bigint[],
    kinds text[],
    direction text,
    fan_out integer
)
returns table (
    via_nth bigint,
    page_id bigint,
    weight double precision,
    edge_id bigint,
    edge_count bigint,
    forward boolean,
    place integer
)
language sql
stable
parallel safe
rows 200
as $$
    select
        r.via_nth, r.page_id, r.weight, r.edge_id, r.edge_count, r.forward, r.place
    from (
        select
            l.*,
            row_number() over (
                partition by l.via_nth
                order by l.weight desc, l.edge_count desc, l.place, l.page_id
            ) as nth
        from (
            select
                w.via_nth,
                w.page_id,
                max(w.weight) as weight,
                (pg_catalog.array_agg(w.edge_id order by w.weight desc, w.edge_id))[1] as edge_id,
                count(*) as edge_count,
                (pg_catalog.array_agg(w.forward order by w.weight desc, w.edge_id))[1] as forward,
                min(w.place) as place
            from (
                select
                    e.via_nth, e.page_id, e.edge_id, e.forward, e.place,
                    e.confidence * coalesce(k.weight, 1) as weight
                from (
                    select
                        f.nth as via_nth, o.target_page_id as page_id, o.edge_id, o.kind,
                        o.confidence, true as forward, o.place
                    from pg_catalog.unnest(linked_pages.from_page_ids)
                        with ordinality as f (page_id, nth)
                    join pgrag.edges as o
                        on o.library_id = linked_pages.library_id
                        and o.source_page_id = f.page_id
                        and o.target_page_id <> o.source_page_id
                    where linked_pages.direction <> 'in'
                    union all
                    select f.nth, i.source_page_id, i.edge_id, i.kind, i.confidence, false, i.place
                    from pg_catalog.unnest(linked_pages.from_page_ids)
                        with ordinality as f (page_id, nth)
                    join pgrag.edges as i
                        on i.library_id = linked_pages.library_id
                        and i.target_page_id = f.page_id
                        and i.target_page_id <> i.source_page_id
                    where linked_pages.direction <> 'out'
                ) as e
                left join pgrag.edge_kinds as k on k.name = e.kind
                where linked_pages.kinds is null or e.kind = any (linked_pages.kinds)
            ) as w
            group by w.via_nth, w.page_id
        ) as l
    ) as r
    where r.nth <= linked_pages.fan_out;
$$;
