-- Links vote: a page that the best hits link to is more likely an answer, even with few terms of
-- the query. The score of a hit follows the note graph (G6): W_sem S + W_edge B_edge + W_cent
-- B_cent, where S is the fused score, which has the weight of the page's type. With T = W_sem S, at
-- most 1,
--   B_edge = T (1 - T) v / (v + 2)   v: the votes of the best pages, the seeds (_graph_pages)
--   B_cent = T (1 - T) c             c: the page's centrality among the pages around the seeds
-- T (1 - T) is the variance of a judgement that is right with probability T: a certain hit needs no
-- votes, votes cannot lift an irrelevant page, and scores stay between 0 and 1.
create or replace function _pgrag.with_graph(
    hits _pgrag.ranked_hit[],
    request _pgrag.search_request
)
returns _pgrag.ranked_hit[]
language plpgsql
stable
parallel safe
as $$
declare
    semantic_weight constant double precision := request.graph ->> 'semantic_weight';
    edge_weight constant double precision := request.graph ->> 'edge_weight';
    centrality_weight constant double precision := request.graph ->> 'centrality_weight';
    around constant _pgrag.surroundings := _pgrag.surroundings(hits, request.graph);
    pages _pgrag.graph_page[];
begin
    if cardinality(hits) = 0 then
        return hits;
    end if;
    pages := array(select g from _pgrag.graph_pages(around, request) as g);
    return array(
        -- What the links add may change the order of a page's hits.
        with scored as (
            select
                h.*, g, s.score as graph_score, b.base, p.edge_part, p.centrality_part,
                row_number() over (
                    partition by h.page_id order by s.score desc, h.ordinality
                )::integer - 1 as nth_of_page
            from unnest(
                hits || array(
                    select r
                    from _pgrag.reached_hits(
                        array(select g.page_id from unnest(pages) as g where g.is_new), request
                    ) as r
                )
            ) with ordinality as h
            join unnest(pages) as g on g.page_id = h.page_id
            cross join lateral (select least(semantic_weight * h.hybrid_score, 1) as base) as b
            cross join lateral (
                select
                    edge_weight * b.base * (1 - b.base) * g.edge_share as edge_part,
                    centrality_weight * b.base * (1 - b.base) * g.centrality_share
                        as centrality_part
            ) as p
            cross join lateral (
                select least(b.base + p.edge_part + p.centrality_part, 1) as score
            ) as s
        )
        select row(
            h.library_id, h.document_id, h.page_id, d.score, h.keyword_score, h.semantic_score,
            h.passage_score, h.page_score, h.keyword_rank, h.semantic_rank, h.section_score,
            h.hybrid_score,
            case when request.explain then
                jsonb_build_object(
                    'score', h.graph_score,
                    'semantic', h.base,
                    'edge', h.edge_part,
                    'edge_share', (h.g).edge_share,
                    'centrality', h.centrality_part,
                    'centrality_share', (h.g).centrality_share
                ) || _pgrag.graph_reasons(h.library_id, h.page_id, (h.g).is_new, around, request)
            end,
            h.confidence,
            h.nth_of_page,
            null
        )::_pgrag.ranked_hit
        from scored as h
        cross join lateral (
            select h.graph_score * _pgrag.page_share(request.page_decay, h.nth_of_page) as score
        ) as d
        order by d.score desc, h.ordinality
    );
end;
$$;

-- What explains the share of a page: its type, the seeds that voted for it by which edges (at most
-- 20, those with most votes first), and the path from a seed if no edge leads there directly.
create or replace function _pgrag.graph_reasons(
    library_id bigint,
    page_id bigint,
    is_new boolean,
    around _pgrag.surroundings,
    request _pgrag.search_request
)
returns jsonb
language plpgsql
stable
parallel safe
as $$
declare
    seed_ids constant bigint[] := around.page_ids[:cardinality(around.shares)];
    reasons jsonb;
    path bigint[];
    via_nth integer := array_position(around.reached_ids, graph_reasons.page_id);
begin
    select jsonb_build_object(
        'seeds', cardinality(seed_ids),
        'linked_by', count(distinct v.seed_id) filter (where v.is_incoming),
        'links_to', count(distinct v.seed_id) filter (where not v.is_incoming),
        'edges', coalesce(
            (array_agg(v.edge_id order by v.weight desc, v.edge_id))[:20], '{}'
        )
    )
    into reasons
    from (
        select distinct on (e.source_page_id, e.target_page_id, e.kind)
            s.page_id as seed_id, s.page_id = e.source_page_id as is_incoming, e.edge_id,
            s.share * (e.confidence * coalesce(k.weight, 1)) * case
                when s.page_id = e.source_page_id then 1
                else (request.graph ->> 'hub_share')::double precision
            end as weight
        from unnest(seed_ids, around.shares) as s (page_id, share)
        join pgrag.edges as e
            on e.library_id = graph_reasons.library_id
            and (
                e.source_page_id = s.page_id and e.target_page_id = graph_reasons.page_id
                or e.source_page_id = graph_reasons.page_id and e.target_page_id = s.page_id
            )
            and e.source_page_id <> e.target_page_id
        left join pgrag.edge_kinds as k on k.name = e.kind
        order by e.source_page_id, e.target_page_id, e.kind, e.confidence desc, e.edge_id
    ) as v;
    if is_new or reasons -> 'edges' = '[]' then
        while via_nth is not null loop
            path := around.reached_ids[via_nth] || path;
            if array_position(around.reached_ids, around.via_ids[via_nth]) is null then
                path := around.via_ids[via_nth] || path;
            end if;
            via_nth := array_position(around.reached_ids, around.via_ids[via_nth]);
        end loop;
    end if;
    return reasons || jsonb_build_object('reached_by', path) || (
        select jsonb_build_object(
            'type', p.type, 'type_weight', _pgrag.type_weight(p.type, q.type_weights)
        )
        from pgrag.pages as p
        join unnest(request.queries) as q on q.library_id = p.library_id
        where p.library_id = graph_reasons.library_id and p.page_id = graph_reasons.page_id
    );
end;
$$;

-- The best passage of each page that only links lead to, with the exact scores of both retrievers.
-- The target of the search and min_score (of the fused score) apply. With rrf there are none: a
-- passage that is no candidate has no rank.
create or replace function _pgrag.reached_hits(
    page_ids bigint[],
    request _pgrag.search_request
)
returns setof _pgrag.ranked_hit
language plpgsql
stable
parallel safe
as $$
declare
    target _pgrag.search_target := request.target;
    reached _pgrag.candidates;
begin
    if cardinality(page_ids) = 0 or request.fusion = 'rrf' then
        return;
    end if;
    select array_agg(i.library_id), array_agg(i.document_id), '{}'
    into reached.library_ids, reached.document_ids, reached.scores
    from pgrag.impacts as i
    where i.library_id = any (target.library_ids)
        and i.page_id = any (reached_hits.page_ids)
        and i.covers & target.covers <> 0
        and (target.allowed_documents is null or i.document_id = any (target.allowed_documents))
        and (target.denied_documents is null or i.document_id <> all (target.denied_documents));
    if reached.document_ids is null then
        return;
    end if;
    return query
    select
        f.library_id, f.document_id, f.page_id, f.score, f.keyword_score, f.semantic_score,
        f.passage_score, f.page_score, null::integer, null::integer, f.section_score,
        f.hybrid_score, null::jsonb, f.confidence, f.better_on_page,
        f.steps
    from (
        select
            s.*,
            row_number() over (partition by s.page_id order by s.ordinality) as rank_on_page
        from unnest(_pgrag.confident(
            _pgrag.fuse(request, reached, ('{}', '{}', '{}', null)), request
        )) with ordinality as s
    ) as f
    where f.rank_on_page = 1 and f.score > 0 and f.score >= request.min_score
    order by f.ordinality;
end;
$$;
