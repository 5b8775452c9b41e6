-- A list in the order of the scores, read deeper until it yields top_k hits or is complete. On the
-- first page of results the deeper list replaces the shallow one. Later pages begin in the list
-- whose depth the cursor names; deeper lists follow without the hits already listed, so paging
-- neither misses nor repeats a hit.
create or replace function _pgrag.scored_hits(
    request _pgrag.search_request
)
returns _pgrag.listing
language plpgsql
stable
parallel safe
as $$
declare
    ranking _pgrag.ranking;
    listing _pgrag.listing := ('{}', null, '{}', null);
    earlier _pgrag.search_request := request;
    seen bigint[] := '{}';
begin
    -- The hits of all lists before the cursor's list.
    earlier.after_score := null;
    earlier.candidate_count := request.start_depth;
    while earlier.candidate_count < request.candidate_count loop
        seen := (_pgrag.rank(earlier, seen, 0)).listed;
        earlier.candidate_count := least(earlier.candidate_count * 5, 20000);
    end loop;

    loop
        ranking := _pgrag.rank(request, seen, request.top_k - cardinality(listing.hits));
        listing := (
            listing.hits || ranking.hits,
            ranking.plans,
            listing.cursors || _pgrag.cursors(
                ranking.hits,
                request.candidate_count,
                coalesce(request.start_depth, request.candidate_count)
            ),
            ranking.timings
        );
        exit when cardinality(listing.hits) >= request.top_k
            or _pgrag.is_complete(request, ranking);
        if request.after_id is null then
            listing := ('{}', null, '{}', null);
        else
            seen := ranking.listed;
            request.after_score := null;
        end if;
        request.candidate_count := least(request.candidate_count * 5, 20000);
    end loop;
    return listing;
end;
$$;

-- The cursor of each hit: its score and id, the depth of the first list, and how many times its own
-- list is deeper.
create or replace function _pgrag.cursors(
    hits _pgrag.ranked_hit[],
    depth integer,
    start_depth integer
)
returns text[]
language plpgsql
immutable
parallel safe
as $$
declare
    times integer := 0;
begin
    while times < 7 and least(start_depth * 5 ^ times, 20000) < depth loop
        times := times + 1;
    end loop;
    return array(
        select _pgrag.cursor_of(h.score, h.document_id, start_depth, times)
        from unnest(hits) with ordinality as h
        order by h.ordinality
    );
end;
$$;

-- A cursor: score, depths, a check and the id in base64, in the letters of addresses. It is one
-- expression, which inlines.
create or replace function _pgrag.cursor_of(
    score double precision,
    document_id bigint,
    start_depth integer,
    times integer
)
returns text
language sql
immutable
parallel safe
as $$
    select translate(
        rtrim(
            encode(
                float8send(cursor_of.score)
                    || substr(int4send(cursor_of.start_depth << 3 | cursor_of.times), 2)
                    || substr(
                        sha256(
                            float8send(cursor_of.score)
                                || int4send(cursor_of.start_depth << 3 | cursor_of.times)
                                || int8send(cursor_of.document_id)
                        ),
                        1,
                        1
                    )
                    || ltrim(int8send(cursor_of.document_id), '\x00'),
                'base64'
            ),
            '='
        ),
        '+/',
        '-_'
    );
$$;

-- Whether a deeper list cannot add hits.
create or replace function _pgrag.is_complete(
    request _pgrag.search_request,
    ranking _pgrag.ranking
)
returns boolean
language sql
immutable
parallel safe
as $$
    select (is_complete.ranking).exhausted
        or (is_complete.ranking).bound < (is_complete.request).min_score
        -- What both retrievers rank below their first candidates answers nothing with confidence.
        or (is_complete.request).min_confidence > 0
        or (is_complete.request).candidate_count >= 20000;
$$;
