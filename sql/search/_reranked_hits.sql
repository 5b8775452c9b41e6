-- The hits that a reranker has scored, best first. The search is repeated, so that a hit keeps its
-- hybrid_score, ranks and evidence of links. Diversity and the limit apply to the new order.
create or replace function _pgrag.reranked_hits(
    request _pgrag.search_request
)
returns _pgrag.listing
language plpgsql
stable
parallel safe
as $$
declare
    pool _pgrag.search_request := request;
    listing _pgrag.listing;
begin
    pool.reranked := null;
    pool.mmr_lambda := null;
    pool.page_hits := null;
    pool.min_score := 0;
    -- As deep as the retrievers are read: the reranker's best may be far down.
    pool.candidate_count := greatest(
        pool.candidate_count, (select count(*) from jsonb_object_keys(request.reranked))
    );
    pool.top_k := pool.candidate_count;
    listing := _pgrag.list_hits(pool);
    listing.cursors := '{}';
    select _pgrag.placed(
        listing.hits,
        array_agg(h.ordinality order by r.score desc, h.ordinality),
        array_agg(r.score order by r.score desc, h.ordinality)
    )
    into listing.hits
    from unnest(listing.hits) with ordinality as h
    cross join lateral (
        select (request.reranked ->> h.document_id::text)::double precision as score
    ) as r
    where r.score >= request.min_score;
    if request.mmr_lambda < 1 then
        listing.hits := _pgrag.diversified(listing.hits, request);
    end if;
    listing.hits := (
        _pgrag.placed_listing(
            coalesce(listing.hits, '{}'), request.page_hits, 0, request.top_k, 0
        )
    ).hits;
    return listing;
end;
$$;
