-- A list whose order is not that of the fused scores alone: all candidates are read, put into their
-- new order, and counted off from the front. When they are used up, a deeper list follows, without
-- what was in the one before; so that going on, nothing is missed and nothing comes twice.
create or replace function pgrag._rearranged_hits(
    request pgrag.search_request
)
returns pgrag.listing
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    first_place constant integer := coalesce(request.after_place, 0);
    last_place constant integer := first_place + request.match_count;
    start_depth constant integer := request.candidate_count;
    pool pgrag.search_request := request;
    ranking pgrag.ranking;
    arranged pgrag.ranked_hit[];
    listed pgrag.ranked_hit[] := '{}';
    started timestamptz;
    listing pgrag.listing;
begin
    -- How many of a page may be shown is decided when the order is known.
    pool.max_per_page := null;
    pool.match_count := pool.candidate_count;
    loop
        ranking := pgrag._rank(pool, '{}', pool.candidate_count * 2);
        started := clock_timestamp();
        request.candidate_count := pool.candidate_count;
        arranged := pgrag._rearrange(ranking.hits, request);
        listed := listed || pgrag._not_listed(arranged, listed, request);
        ranking.timings := pgrag._timed(ranking.timings, 'rearrange', started);
        exit when cardinality(listed) >= last_place or pgrag._is_complete(pool, ranking);
        pool.candidate_count := least(pool.candidate_count * 5, 20000);
        pool.match_count := pool.candidate_count;
    end loop;
    listing.hits := listed[first_place + 1:last_place];
    listing.plans := ranking.plans;
    listing.timings := ranking.timings;
    listing.cursors := array(
        select format('p%s:%s', first_place + place, start_depth)
        from generate_series(1, cardinality(listing.hits)) as place
        order by place
    );
    return listing;
end;
$$;

create or replace function pgrag._is_rearranged(
    request pgrag.search_request
)
returns boolean
language sql
immutable
parallel safe
as $$
    select (_is_rearranged.request).unit = 'page'
        or (_is_rearranged.request).hierarchy <> 'none'
        or (_is_rearranged.request).mmr_lambda is not null
        or (_is_rearranged.request).graph is not null;
$$;

-- What a deeper list brings besides the one before; a page that is full stays full.
create or replace function pgrag._not_listed(
    arranged pgrag.ranked_hit[],
    listed pgrag.ranked_hit[],
    request pgrag.search_request
)
returns pgrag.ranked_hit[]
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    most integer := case
        when request.unit = 'page' then 1
        else request.max_per_page
    end;
begin
    if cardinality(listed) = 0 then
        return arranged;
    end if;
    return array(
        select row(
            n.library_id, n.document_id, n.page_id, n.score, n.keyword_score, n.semantic_score,
            n.passage_score, n.page_score, n.keyword_rank, n.semantic_rank, n.section_score,
            n.hybrid_score, n.graph
        )::pgrag.ranked_hit
        from (
            select
                a.*,
                coalesce(p.listed_count, 0)
                    + row_number() over (partition by a.page_id order by a.ordinality) as place
            from unnest(arranged) with ordinality as a
            left join (
                select l.page_id, count(*) as listed_count
                from unnest(listed) as l
                group by l.page_id
            ) as p on p.page_id = a.page_id
            where not exists (
                select from unnest(listed) as l where l.document_id = a.document_id
            )
        ) as n
        where most is null or n.place <= most
        order by n.ordinality
    );
end;
$$;
