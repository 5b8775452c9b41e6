-- The pages around some pages, by breadth-first search. One row of the recursion is one level with
-- all pages seen so far, so no page is visited twice and cycles end. Of equally strong pages, those
-- around the first page of the previous level come first, in the order of its links.
create or replace function _pgrag.neighbourhood(
    library_id bigint,
    start_ids bigint[],
    max_depth integer,
    kinds text[],
    direction text,
    fan_out integer,
    total integer
)
returns table (
    page_id bigint,
    depth integer,
    weight double precision,
    via_page_id bigint,
    edge_id bigint,
    edge_count bigint,
    forward boolean
)
language plpgsql
stable
parallel safe
rows 500
as $$
#variable_conflict use_column
begin
    return query
    with recursive walk as (
        select
            0 as depth,
            array_agg(s.page_id order by s.nth) as page_ids,
            array_agg(1.0::double precision) as weights,
            null::bigint[] as via_page_ids,
            null::bigint[] as edge_ids,
            null::bigint[] as edge_counts,
            null::boolean[] as forwards,
            array_agg(s.page_id) as seen
        from (
            select u.page_id, min(u.nth) as nth
            from unnest(neighbourhood.start_ids) with ordinality as u (page_id, nth)
            group by u.page_id
        ) as s
        union all
        select
            w.depth + 1,
            step.page_ids, step.weights, step.via_page_ids, step.edge_ids, step.edge_counts,
            step.forwards,
            w.seen || step.page_ids
        from walk as w
        cross join lateral (
            select
                array_agg(b.page_id order by b.nth) as page_ids,
                array_agg(b.weight order by b.nth) as weights,
                array_agg(b.via_page_id order by b.nth) as via_page_ids,
                array_agg(b.edge_id order by b.nth) as edge_ids,
                array_agg(b.edge_count order by b.nth) as edge_counts,
                array_agg(b.forward order by b.nth) as forwards
            from (
                select
                    way.*,
                    row_number() over (
                        order by way.weight desc, way.via_nth, way.place, way.page_id
                    ) as nth
                from (
                    select distinct on (n.page_id)
                        n.page_id,
                        f.weight * n.weight as weight,
                        f.page_id as via_page_id,
                        f.nth as via_nth,
                        n.place, n.edge_id, n.edge_count, n.forward
                    from unnest(w.page_ids, w.weights)
                        with ordinality as f (page_id, weight, nth)
                    cross join lateral _pgrag.linked_pages(
                        neighbourhood.library_id, f.page_id, neighbourhood.kinds,
                        neighbourhood.direction, neighbourhood.fan_out
                    ) as n
                    order by n.page_id, f.weight * n.weight desc, n.edge_count desc, f.nth
                ) as way
                where way.page_id <> all (w.seen)
                order by nth
                limit (
                    neighbourhood.total + (
                        select count(distinct s.page_id)
                        from unnest(neighbourhood.start_ids) as s (page_id)
                    ) - cardinality(w.seen)
                )
            ) as b
        ) as step
        where w.depth < neighbourhood.max_depth and step.page_ids is not null
    )
    select
        r.page_id, w.depth, r.weight, r.via_page_id, r.edge_id, r.edge_count, r.forward
    from walk as w
    cross join unnest(
        w.page_ids, w.weights, w.via_page_ids, w.edge_ids, w.edge_counts, w.forwards
    ) as r (page_id, weight, via_page_id, edge_id, edge_count, forward)
    where w.depth > 0
    order by w.depth, r.weight desc, r.page_id;
end;
$$;

-- One step from a page: the strongest edges first, of equal ones the first on their page; the
-- strongest edge between two pages represents all. Without a set clause, so that it inlines.
create or replace function _pgrag.linked_pages(
    library_id bigint,
    from_page_id bigint,
    kinds text[],
    direction text,
    fan_out integer
)
returns table (
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
rows 20
as $$
    select
        l.page_id,
        max(l.weight) as weight,
        (pg_catalog.array_agg(l.edge_id order by l.weight desc, l.edge_id))[1] as edge_id,
        count(*) as edge_count,
        (pg_catalog.array_agg(l.forward order by l.weight desc, l.edge_id))[1] as forward,
        min(l.place) as place
    from (
        select
            e.target_page_id as page_id,
            e.edge_id,
            e.confidence * coalesce(k.weight, 1) as weight,
            true as forward,
            e.place
        from pgrag.edges as e
        left join pgrag.edge_kinds as k on k.name = e.kind
        where linked_pages.direction <> 'in'
            and e.library_id = linked_pages.library_id
            and e.source_page_id = linked_pages.from_page_id
            and e.target_page_id <> e.source_page_id
            and (linked_pages.kinds is null or e.kind = any (linked_pages.kinds))
        union all
        select
            e.source_page_id,
            e.edge_id,
            e.confidence * coalesce(k.weight, 1),
            false,
            e.place
        from pgrag.edges as e
        left join pgrag.edge_kinds as k on k.name = e.kind
        where linked_pages.direction <> 'out'
            and e.library_id = linked_pages.library_id
            and e.target_page_id = linked_pages.from_page_id
            and e.target_page_id <> e.source_page_id
            and (linked_pages.kinds is null or e.kind = any (linked_pages.kinds))
    ) as l
    group by l.page_id
    order by weight desc, edge_count desc, place, page_id
    limit linked_pages.fan_out;
$$;
