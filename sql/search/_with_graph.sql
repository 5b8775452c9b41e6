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
begin
    if cardinality(hits) = 0 then
        return hits;
    end if;
    return array(
        with around as materialized (
            select g.* from _pgrag.graph_pages(hits, request) as g
        ),
        every_hit as (
            select h.*
            from unnest(
                hits || array(
                    select r
                    from _pgrag.reached_hits(
                        array(select a.page_id from around as a where a.is_new), request
                    ) as r
                )
            ) with ordinality as h
        ),
        -- What the links add may change the order of a page's hits.
        scored as (
            select
                h.*, a, s.score as graph_score, b.base, p.edge_part, p.centrality_part,
                row_number() over (
                    partition by h.page_id order by s.score desc, h.ordinality
                )::integer - 1 as nth_of_page
            from every_hit as h
            join around as a on a.library_id = h.library_id and a.page_id = h.page_id
            cross join lateral (
                select least(
                    (request.graph ->> 'semantic_weight')::double precision * h.hybrid_score, 1
                ) as base
            ) as b
            cross join lateral (
                select
                    (request.graph ->> 'edge_weight')::double precision
                        * b.base * (1 - b.base) * a.edge_share as edge_part,
                    (request.graph ->> 'centrality_weight')::double precision
                        * b.base * (1 - b.base) * a.centrality_share as centrality_part
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
                    'type', (h.a).type,
                    'type_weight', (h.a).type_weight,
                    'edge', h.edge_part,
                    'edge_share', (h.a).edge_share,
                    'centrality', h.centrality_part,
                    'centrality_share', (h.a).centrality_share,
                    'seeds', (h.a).seeds,
                    'linked_by', (h.a).linked_by,
                    'links_to', (h.a).links_to,
                    'edges', (h.a).edge_ids,
                    'reached_by', (h.a).reached_by
                )
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
            array(
                select r
                from _pgrag.fuse(request, reached, ('{}', '{}', '{}', null)) as r
            ),
            request
        )) with ordinality as s
    ) as f
    where f.rank_on_page = 1 and f.score > 0 and f.score >= request.min_score
    order by f.ordinality;
end;
$$;
