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
        exit when _pgrag.place_count(listed, request.page_hits) >= last_place
            or _pgrag.is_complete(pool, ranking);
        pool.candidate_count := least(pool.candidate_count * 5, 20000);
    end loop;
    listing := _pgrag.placed_listing(
        listed, request.page_hits, first_place, last_place, start_depth
    );
    listing.plans := ranking.plans;
    listing.timings := ranking.timings;
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
        or (is_rearranged.request).graph is not null
        or (is_rearranged.request).page_hits is not null;
$$;

-- A place of a list is a hit, or with page_hits a page.
create or replace function _pgrag.place_count(
    hits _pgrag.ranked_hit[],
    page_hits integer
)
returns bigint
language sql
immutable
parallel safe
as $$
    select case
        when place_count.page_hits is null then cardinality(place_count.hits)
        else (select count(distinct h.page_id) from unnest(place_count.hits) as h)
    end;
$$;

-- The hits of the places after the first ones to the last, with the cursor behind each place. With
-- page_hits they come page by page, in the order of the pages' first hits.
create or replace function _pgrag.placed_listing(
    hits _pgrag.ranked_hit[],
    page_hits integer,
    first_place integer,
    last_place integer,
    depth integer
)
returns _pgrag.listing
language plpgsql
immutable
parallel safe
as $$
declare
    listing _pgrag.listing := ('{}', null, '{}', null);
begin
    select
        coalesce(array_agg(hits[p.nth] order by p.place, p.nth), '{}'),
        coalesce(array_agg(format('p%s:%s', p.place, depth) order by p.place, p.nth), '{}')
    into listing.hits, listing.cursors
    from (
        select
            h.nth,
            h.rank_on_page,
            case
                when page_hits is null then h.nth
                else dense_rank() over (order by h.first_of_page)
            end as place
        from (
            select
                u.ordinality as nth,
                min(u.ordinality) over (partition by u.page_id) as first_of_page,
                row_number() over (partition by u.page_id order by u.ordinality) as rank_on_page
            from unnest(hits) with ordinality as u
        ) as h
    ) as p
    where p.place > first_place
        and p.place <= last_place
        and (p.rank_on_page <= page_hits) is not false;
    return listing;
end;
$$;
