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
    where r.score is not null;
    if request.mmr_lambda < 1 then
        listing.hits := _pgrag.diversified(listing.hits, request);
    end if;
    listing.hits := coalesce(listing.hits[:request.top_k], '{}');
    return listing;
end;
$$;

create or replace function _pgrag.check_reranked(
    reranked jsonb,
    after text
)
returns void
language plpgsql
immutable
parallel safe
as $$
begin
    if jsonb_typeof(reranked) <> 'object' or exists (
        select
        from jsonb_each(case jsonb_typeof(reranked) when 'object' then reranked end) as r
        where r.key !~ '^[0-9]{1,18}$'
            or case jsonb_typeof(r.value)
                when 'number' then r.value::numeric not between 0 and 1
                else true
            end
    )
    then
        raise exception 'reranked must be scores from 0 to 1 by document_id, got %.',
            left(reranked::text, 100)
            using errcode = 'PGR01', hint = 'For example {"42": 0.93, "7": 0.2}.';
    end if;
    if after is not null then
        raise exception 'A reranked list has one page of results.'
            using errcode = 'PGR01', hint = 'Raise top_k instead of passing after.';
    end if;
end;
$$;
