-- Links vote: what the best hits link to is more likely an answer, and may be one that has few of
-- the query's words. Every hit gets the score of the note graph that this follows (G6), W_sem S
-- max(W_type, 0) + W_edge B_edge + W_cent B_cent: S is its fused score, W_type the weight of its
-- page's type, and with T = W_sem S max(W_type, 0), at most 1,
--   B_edge = T (1 - T) v / (v + 2)   v: the votes of the best pages, the seeds (_graph_pages)
--   B_cent = T (1 - T) c             c: how central its page is among those around the seeds
-- T (1 - T) is the variance of a judgement that is right with probability T: a sure hit needs no
-- votes, what has nothing to do with the query is not voted in, and scores stay in 0 to 1.
create or replace function pgrag._with_graph(
    hits pgrag.ranked_hit[],
    request pgrag.search_request
)
returns pgrag.ranked_hit[]
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    if cardinality(hits) = 0 then
        return hits;
    end if;
    return array(
        with around as materialized (
            select g.* from pgrag._graph_pages(hits, request) as g
        ),
        every_hit as (
            select h.* from unnest(hits) as h
            union all
            select r.*
            from pgrag._reached_hits(
                array(select a.page_id from around as a where a.is_new), request
            ) as r
        ),
        weighted as (
            select
                h.*,
                a.type,
                a.type_weight,
                a.edge_share,
                a.centrality_share,
                a.linked_by,
                a.links_to,
                a.seeds,
                a.edge_ids,
                a.reached_by,
                least(
                    (request.graph ->> 'semantic_weight')::double precision
                        * h.hybrid_score * greatest(a.type_weight, 0),
                    1
                ) as base
            from every_hit as h
            join around as a on a.library_id = h.library_id and a.page_id = h.page_id
        ),
        parted as (
            select
                w.*,
                (request.graph ->> 'edge_weight')::double precision
                    * w.base * (1 - w.base) * w.edge_share as edge_part,
                (request.graph ->> 'centrality_weight')::double precision
                    * w.base * (1 - w.base) * w.centrality_share as centrality_part
            from weighted as w
        )
        select row(
            p.library_id, p.document_id, p.page_id,
            least(p.base + p.edge_part + p.centrality_part, 1),
            p.keyword_score, p.semantic_score, p.passage_score, p.page_score, p.keyword_rank,
            p.semantic_rank, p.section_score, p.hybrid_score,
            jsonb_build_object(
                'semantic', p.base,
                'type', p.type,
                'type_weight', p.type_weight,
                'edge', p.edge_part,
                'edge_share', p.edge_share,
                'centrality', p.centrality_part,
                'centrality_share', p.centrality_share,
                'seeds', p.seeds,
                'linked_by', p.linked_by,
                'links_to', p.links_to,
                'edges', p.edge_ids,
                'reached_by', p.reached_by
            )
        )::pgrag.ranked_hit
        from parted as p
        order by least(p.base + p.edge_part + p.centrality_part, 1) desc, p.document_id
    );
end;
$$;

-- The documents of pages that only links lead to: each page is spoken for by its best one, with
-- the exact scores of both arms. What narrows the search holds for them too, and so does min_score,
-- which is about the fused score. Ranks (rrf) say nothing of what no arm has found.
create or replace function pgrag._reached_hits(
    page_ids bigint[],
    request pgrag.search_request
)
returns setof pgrag.ranked_hit
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    target pgrag.search_target := request.target;
    reached pgrag.candidates;
begin
    if cardinality(page_ids) = 0 or request.fusion = 'rrf' then
        return;
    end if;
    select array_agg(d.library_id), array_agg(d.document_id), '{}'
    into reached.library_ids, reached.document_ids, reached.scores
    from pgrag.documents as d
    where d.library_id = any (target.library_ids)
        and d.page_id = any (_reached_hits.page_ids)
        and d.covers & target.covers <> 0
        and (
            target.allowed_documents is null or d.document_id = any (target.allowed_documents)
        )
        and (target.denied_documents is null or d.document_id <> all (target.denied_documents));
    if reached.document_ids is null then
        return;
    end if;
    return query
    select
        f.library_id, f.document_id, f.page_id, f.score, f.keyword_score, f.semantic_score,
        f.passage_score, f.page_score, null::integer, null::integer, f.section_score, f.score,
        null::jsonb
    from (
        select
            s.*,
            row_number() over (partition by s.page_id order by s.score desc, s.document_id)
                as place_on_page
        from pgrag._fuse(request, reached, ('{}', '{}', '{}', null)) as s
    ) as f
    where f.place_on_page = 1 and f.score > 0 and f.score >= request.min_score;
end;
$$;
