-- The pages of the hits and the pages that the best hits (the seeds) link to. Backlinks are not
-- followed, because a page may be linked from everywhere. For each page the links give:
--   edge_share        v / (v + 2), v: the sum of votes. A seed votes for a page that it links to
--                     with its share of the best score times the edge's confidence times the weight
--                     of its kind; for a page that links to the seed, with hub_share of that. At
--                     each further step, half of the previous page's votes times the edge weight.
--   centrality_share  the mean of ln(1 + d) / ln(1 + the largest d), d: the pages of this set that
--                     link here, and of the page rank, scaled to 0 (lowest of the set) to 1.
create or replace function _pgrag.graph_pages(
    hits _pgrag.ranked_hit[],
    request _pgrag.search_request
)
returns table (
    library_id bigint,
    page_id bigint,
    is_new boolean,
    type text,
    type_weight double precision,
    edge_share double precision,
    centrality_share double precision,
    linked_by bigint,
    links_to bigint,
    seeds integer,
    edge_ids bigint[],
    reached_by bigint[]
)
language plpgsql
stable
parallel safe
rows 150
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
    target _pgrag.search_target := request.target;
begin
    return query
    with recursive listed as materialized (
        select
            h.library_id,
            h.page_id,
            max(h.hybrid_score) / nullif(max(max(h.hybrid_score)) over (), 0) as weight,
            row_number() over (order by min(h.ordinality)) as nth
        from unnest(hits) with ordinality as h
        group by h.library_id, h.page_id
    ),
    seeds as (
        select l.* from listed as l where l.nth <= (request.graph ->> 'seeds')::integer
    ),
    reached as materialized (
        select s.library_id, n.page_id, n.depth, n.weight, n.via_page_id as via_id
        from (
            select s.library_id, array_agg(s.page_id order by s.nth) as page_ids
            from seeds as s
            group by s.library_id
        ) as s
        cross join lateral _pgrag.neighbourhood(
            s.library_id, s.page_ids, (request.graph ->> 'depth')::integer, null, 'out',
            (request.graph ->> 'fan_out')::integer, (request.graph ->> 'total')::integer
        ) as n
    ),
    nodes as materialized (
        select l.library_id, l.page_id, false as is_new from listed as l
        union all
        select r.library_id, r.page_id, true
        from reached as r
        where r.page_id not in (select l.page_id from listed as l)
    ),
    -- Of several edges of one kind between two pages, the most confident one.
    links as materialized (
        select
            e.source_page_id as source_id,
            e.target_page_id as target_id,
            max(e.confidence * coalesce(k.weight, 1)) as weight,
            (array_agg(e.edge_id order by e.confidence desc, e.edge_id))[1] as edge_id
        from pgrag.edges as e
        left join pgrag.edge_kinds as k on k.name = e.kind
        where e.library_id = any (target.library_ids)
            and e.source_page_id = any (array(select n.page_id from nodes as n))
            -- Forces a hash table: the index on targets is slow for pages linked from everywhere,
            -- and an array would be scanned for each edge.
            and (e.target_page_id in (select n.page_id from nodes as n)) is true
            and e.source_page_id <> e.target_page_id
        group by e.source_page_id, e.target_page_id, e.kind
    ),
    votes as (
        select
            v.page_id,
            -- In this order, equal sums are equal to the last bit.
            sum(v.weight order by v.weight) as amount,
            count(distinct v.seed_id) filter (where v.is_incoming) as linked_by,
            count(distinct v.seed_id) filter (where not v.is_incoming) as links_to,
            array_agg(v.edge_id order by v.weight desc, v.edge_id) as edge_ids
        from (
            select
                l.target_id as page_id, s.page_id as seed_id, l.edge_id,
                s.weight * l.weight as weight, true as is_incoming
            from links as l
            join seeds as s on s.page_id = l.source_id
            union all
            select
                l.source_id, s.page_id, l.edge_id,
                (request.graph ->> 'hub_share')::double precision * s.weight * l.weight, false
            from links as l
            join seeds as s on s.page_id = l.target_id
        ) as v
        group by v.page_id
    ),
    ways as (
        select r.page_id, r.depth, r.weight, v.amount, array[r.via_id, r.page_id] as path
        from reached as r
        join votes as v on v.page_id = r.page_id
        where r.depth = 1
        union all
        select
            r.page_id, r.depth, r.weight, 0.5 * w.amount * r.weight / nullif(w.weight, 0),
            w.path || r.page_id
        from ways as w
        join reached as r on r.via_id = w.page_id and r.depth = w.depth + 1
    ),
    degrees as (
        select l.target_id as page_id, count(distinct l.source_id) as degree
        from links as l
        group by l.target_id
    ),
    valued as (
        select
            n.*,
            coalesce(v.amount, w.amount, 0) as amount,
            coalesce(v.linked_by, 0) as linked_by,
            coalesce(v.links_to, 0) as links_to,
            coalesce(v.edge_ids, '{}') as edge_ids,
            w.path,
            coalesce(ln(1 + d.degree) / ln(1 + max(d.degree) over ()), 0) as local_share,
            coalesce(
                (r.rank - min(r.rank) over ())
                    / nullif(max(r.rank) over () - min(r.rank) over (), 0),
                0
            ) as rank_share
        from nodes as n
        left join votes as v on v.page_id = n.page_id
        left join ways as w on w.page_id = n.page_id
        left join degrees as d on d.page_id = n.page_id
        left join pgrag.page_ranks as r
            on r.library_id = n.library_id and r.page_id = n.page_id
    ),
    weights as materialized (
        select q.library_id, q.type_weights from unnest(request.queries) as q
    ),
    -- Only neighbours within the target are admitted, those with the most votes first.
    admitted as (
        select
            o.*,
            row_number() over (
                partition by o.is_new
                order by
                    o.amount desc,
                    array_position(target.version_ids, o.version_id),
                    o.key collate "C"
            ) as nth
        from (
            select v.*, p.version_id, p.key, p.type
            from valued as v
            join pgrag.pages as p on p.library_id = v.library_id and p.page_id = v.page_id
            where not v.is_new
                or p.version_id = any (target.version_ids)
                and (target.allowed_pages is null or p.page_id = any (target.allowed_pages))
        ) as o
    )
    select
        a.library_id, a.page_id, a.is_new, a.type,
        _pgrag.type_weight(a.type, w.type_weights),
        a.amount / (a.amount + 2),
        ((a.local_share + a.rank_share) / 2)::double precision,
        a.linked_by, a.links_to, (select count(*)::integer from seeds),
        a.edge_ids[:20],
        case when a.is_new or a.linked_by + a.links_to = 0 then a.path end
    from admitted as a
    join weights as w on w.library_id = a.library_id
    where not a.is_new or a.nth <= (request.graph ->> 'admitted')::integer;
end;
$$;
