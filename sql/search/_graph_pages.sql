-- The pages of the hits and the pages that the best hits (the seeds) link to. Backlinks are not
-- followed, because a page may be linked from everywhere. For each page the links give:
--   edge_share        v / (v + 2), v: the sum of votes. A seed votes for a page that it links to
--                     with its share of the best score times the edge's confidence times the weight
--                     of its kind; for a page that links to the seed, with hub_share of that. At
--                     each further step, half of the previous page's votes times the edge weight.
--   centrality_share  the mean of ln(1 + d) / ln(1 + the largest d), d: the pages of this set that
--                     link here, and of the page rank, scaled to 0 (lowest of the set) to 1.
create or replace function _pgrag.graph_pages(
    around _pgrag.surroundings,
    request _pgrag.search_request
)
returns setof _pgrag.graph_page
language plpgsql
stable
parallel safe
rows 60
set enable_seqscan = off
set jit = off
-- The planner would plan anew for the arrays of each search.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    library_ids constant bigint[] := (request.target).library_ids;
    version_ids constant bigint[] := (request.target).version_ids;
    allowed_pages constant bigint[] := (request.target).allowed_pages;
    node_ids constant bigint[] := around.page_ids || around.reached_ids;
    hub_share constant double precision := request.graph ->> 'hub_share';
    most constant integer := request.graph ->> 'admitted';
begin
    return query
    with nodes as materialized (
        select
            coalesce(l.page_id, r.page_id) as page_id,
            l.page_id is null as is_new,
            r.root_id, r.root_share
        from unnest(around.page_ids) as l (page_id)
        full join unnest(around.reached_ids, around.root_ids, around.root_shares)
            as r (page_id, root_id, root_share) on r.page_id = l.page_id
    ),
    -- Of several edges of one kind between two pages, the most confident one.
    links as materialized (
        select
            e.source_page_id as source_id, e.target_page_id as target_id, e.kind,
            max(e.confidence) as confidence
        from pgrag.edges as e
        where e.library_id = any (library_ids)
            and e.source_page_id = any (node_ids)
            -- Forces a hash table: the index on targets is slow for pages linked from everywhere,
            -- and an array would be scanned for each edge.
            and (e.target_page_id in (select n.page_id from nodes as n)) is true
            and e.source_page_id <> e.target_page_id
        group by e.source_page_id, e.target_page_id, e.kind
    ),
    votes as materialized (
        select
            v.page_id,
            -- In this order, equal sums are equal to the last bit.
            sum(v.weight order by v.weight) as amount
        from (
            select
                u.page_id,
                u.share * (u.confidence * coalesce((k.weights -> u.kind)::double precision, 1))
                    as weight
            from (
                select l.target_id as page_id, s.share, l.confidence, l.kind
                from links as l
                join unnest(around.page_ids[:cardinality(around.shares)], around.shares)
                    as s (page_id, share) on s.page_id = l.source_id
                union all
                select l.source_id, hub_share * s.share, l.confidence, l.kind
                from links as l
                join unnest(around.page_ids[:cardinality(around.shares)], around.shares)
                    as s (page_id, share) on s.page_id = l.target_id
            ) as u
            cross join (
                select jsonb_object_agg(k.name, k.weight) as weights from pgrag.edge_kinds as k
            ) as k
        ) as v
        group by v.page_id
    ),
    degrees as (
        select l.target_id as page_id, count(distinct l.source_id) as degree
        from links as l
        group by l.target_id
    ),
    valued as (
        select
            n.page_id, n.is_new,
            coalesce(
                v.amount,
                case
                    when n.root_id is not null
                    then n.root_share
                        * (select r.amount from votes as r where r.page_id = n.root_id)
                end,
                0
            ) as amount,
            coalesce(ln(1 + d.degree) / ln(1 + max(d.degree) over ()), 0) as local_share,
            coalesce(
                (r.rank - min(r.rank) over ())
                    / nullif(max(r.rank) over () - min(r.rank) over (), 0),
                0
            ) as rank_share
        from nodes as n
        left join votes as v on v.page_id = n.page_id
        left join degrees as d on d.page_id = n.page_id
        left join (
            select r.page_id, r.rank
            from pgrag.page_ranks as r
            where r.library_id = any (library_ids) and r.page_id = any (node_ids)
        ) as r on r.page_id = n.page_id
    ),
    chosen as materialized (
        select
            v.page_id, v.is_new, v.amount,
            ((v.local_share + v.rank_share) / 2)::double precision as centrality_share,
            rank() over (partition by v.is_new order by v.amount desc) as place
        from valued as v
        where not v.is_new or allowed_pages is null or v.page_id = any (allowed_pages)
    )
    select c.page_id, false, c.amount / (c.amount + 2), c.centrality_share
    from chosen as c
    where not c.is_new
    union all
    -- Only neighbours within the target are admitted, those with the most votes first.
    (
        select c.page_id, true, c.amount / (c.amount + 2), c.centrality_share
        from chosen as c
        join pgrag.pages as p on p.library_id = any (library_ids) and p.page_id = c.page_id
        where c.is_new and c.place <= most and p.version_id = any (version_ids)
        order by
            c.amount desc, array_position(version_ids, p.version_id), p.key collate "C"
        limit most
    );
end;
$$;

-- The pages of the hits, the best first; the first of them are the seeds, which have shares of the
-- best score. Then the pages around the seeds, and for those further than one step away the page of
-- the first step and their share of its votes.
create or replace function _pgrag.surroundings(
    hits _pgrag.ranked_hit[],
    graph jsonb
)
returns _pgrag.surroundings
language plpgsql
stable
parallel safe
set enable_seqscan = off
set jit = off
as $$
declare
    around _pgrag.surroundings := ('{}', '{}', '{}', '{}', '{}', '{}');
    seed_ids bigint[];
    owner_id bigint;
    near record;
    root_ids bigint[];
    root_shares double precision[];
    via integer;
begin
    select array_agg(l.page_id), array_agg(l.share)
    into around.page_ids, around.shares
    from (
        select h.page_id, max(h.hybrid_score) / nullif(max(max(h.hybrid_score)) over (), 0) as share
        from unnest(hits) with ordinality as h
        group by h.page_id
        order by min(h.ordinality)
    ) as l;
    around.shares := around.shares[:(graph ->> 'seeds')::integer];
    seed_ids := around.page_ids[:cardinality(around.shares)];
    for owner_id in select distinct s.page_id >> 33 from unnest(seed_ids) as s (page_id) loop
        near := _pgrag.neighbourhood(
            owner_id,
            array(
                select s.page_id
                from unnest(seed_ids) with ordinality as s (page_id, nth)
                where s.page_id >> 33 = owner_id
                order by s.nth
            ),
            (graph ->> 'depth')::integer, null, 'out', (graph ->> 'fan_out')::integer,
            (graph ->> 'total')::integer
        );
        root_ids := array_fill(null::bigint, array[cardinality(near.page_ids)]);
        root_shares := array_fill(null::double precision, array[cardinality(near.page_ids)]);
        for nth in coalesce(array_position(near.depths, 2), 1)..cardinality(near.page_ids) loop
            exit when near.depths[nth] = 1;
            via := array_position(near.page_ids, near.via_page_ids[nth]);
            root_ids[nth] := coalesce(root_ids[via], near.page_ids[via]);
            root_shares[nth] := 0.5 * coalesce(root_shares[via], 1) * near.weights[nth]
                / nullif(near.weights[via], 0);
        end loop;
        around.reached_ids := around.reached_ids || near.page_ids;
        around.via_ids := around.via_ids || near.via_page_ids;
        around.root_ids := around.root_ids || root_ids;
        around.root_shares := around.root_shares || root_shares;
    end loop;
    return around;
end;
$$;
