-- A list that is not ordered by the fused scores alone: all candidates are read, rearranged, and
-- paged from the front. When they are used up, a deeper list follows, without the hits already
-- listed. So paging neither misses nor repeats a hit.
create or replace function _pgrag.rearranged_hits(
    request _pgrag.search_request
)
returns _pgrag.listing
language plpgsql
stable
parallel safe
as $$
declare
    first_place constant integer := coalesce(request.after_place, 0);
    last_place constant integer := first_place + request.top_k;
    start_depth constant integer := request.candidate_count;
    pool _pgrag.search_request := request;
    ranking _pgrag.ranking;
    arranged _pgrag.ranked_hit[];
    listed _pgrag.ranked_hit[] := '{}';
    started timestamptz;
    listing _pgrag.listing;
begin
    -- The limit of hits per page applies after the rearrangement.
    pool.max_per_page := null;
    if request.graph is not null then
        -- What links add may change the order of a page's hits.
        pool.page_decay := 1;
    end if;
    loop
        -- More than there can be, so that the ranking has its bound.
        ranking := _pgrag.rank(pool, '{}', pool.candidate_count * 2 + 1);
        started := clock_timestamp();
        request.candidate_count := pool.candidate_count;
        arranged := _pgrag.rearrange(ranking.hits, request);
        if listed = '{}' then
            listed := arranged;
        else
            -- A page that has reached its limit gets no further hits.
            listed := _pgrag.limited_per_page(
                listed || array(
                    select a
                    from unnest(arranged) as a
                    where a.document_id not in (select l.document_id from unnest(listed) as l)
                ),
                case when request.unit = 'page' then 1 else request.max_per_page end
            );
        end if;
        ranking.timings := _pgrag.timed(ranking.timings, 'rearrange', clock_timestamp() - started);
        exit when cardinality(listed) >= last_place or _pgrag.is_complete(pool, ranking);
        pool.candidate_count := least(pool.candidate_count * 5, 20000);
    end loop;
    listing.hits := listed[first_place + 1:last_place];
    listing.plans := ranking.plans;
    listing.timings := ranking.timings;
    listing.cursors := array(
        select format('p%s:%s', first_place + nth, start_depth)
        from generate_series(1, cardinality(listing.hits)) as nth
        order by nth
    );
    return listing;
end;
$$;

create or replace function _pgrag.is_rearranged(
    request _pgrag.search_request
)
returns boolean
language sql
immutable
parallel safe
as $$
    select (is_rearranged.request).unit = 'page'
        or (is_rearranged.request).hierarchy <> 'none'
        or (is_rearranged.request).mmr_lambda is not null
        or (is_rearranged.request).graph is not null;
$$;
