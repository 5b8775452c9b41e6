-- The first page of results: one list, read as deep as it takes for the hits that were asked for.
create or replace function pgrag._first_hits(
    request pgrag.search_request
)
returns pgrag.listing
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    ranking pgrag.ranking;
begin
    loop
        ranking := pgrag._rank(request, '{}', request.match_count);
        exit when cardinality(ranking.hits) >= request.match_count
            or pgrag._is_complete(request, ranking);
        request.candidate_count := least(request.candidate_count * 5, 20000);
    end loop;
    return (
        ranking.hits,
        ranking.plans,
        pgrag._cursors(ranking.hits, request.candidate_count, request.candidate_count),
        ranking.timings
    );
end;
$$;

-- The pages after it: the cursor says how deep its list was read. When that list ends, the deeper
-- one follows, without what was in it; so that going on, nothing is missed and nothing comes twice.
create or replace function pgrag._next_hits(
    request pgrag.search_request
)
returns pgrag.listing
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    ranking pgrag.ranking;
    listing pgrag.listing := ('{}', null, '{}', null);
    seen bigint[] := pgrag._listed_before(request);
begin
    loop
        ranking := pgrag._rank(request, seen, request.match_count - cardinality(listing.hits));
        listing.hits := listing.hits || ranking.hits;
        listing.cursors := listing.cursors
            || pgrag._cursors(ranking.hits, request.candidate_count, request.start_depth);
        listing.plans := ranking.plans;
        listing.timings := ranking.timings;
        exit when cardinality(listing.hits) >= request.match_count
            or pgrag._is_complete(request, ranking);
        seen := ranking.listed;
        request.after_score := null;
        request.candidate_count := least(request.candidate_count * 5, 20000);
    end loop;
    return listing;
end;
$$;

-- A hit's cursor: its score and id, how deep its list was read, and how deep the first one was.
create or replace function pgrag._cursors(
    hits pgrag.ranked_hit[],
    depth integer,
    start_depth integer
)
returns text[]
language sql
immutable
parallel safe
as $$
    select array(
        select pg_catalog.concat_ws(
            ':', h.score, h.document_id, _cursors.depth, _cursors.start_depth
        )
        from pg_catalog.unnest(_cursors.hits) with ordinality as h
        order by h.ordinality
    );
$$;

-- Whether going deeper can bring nothing more.
create or replace function pgrag._is_complete(
    request pgrag.search_request,
    ranking pgrag.ranking
)
returns boolean
language sql
immutable
parallel safe
as $$
    select (_is_complete.ranking).exhausted
        or (_is_complete.ranking).bound < (_is_complete.request).min_score
        or (_is_complete.request).candidate_count >= 20000;
$$;

-- What the lists before the cursor's held.
create or replace function pgrag._listed_before(
    request pgrag.search_request
)
returns bigint[]
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    depth integer := request.start_depth;
    seen bigint[] := '{}';
    reader pgrag.search_request := request;
begin
    reader.after_score := null;
    while depth < request.candidate_count loop
        reader.candidate_count := depth;
        seen := (pgrag._rank(reader, seen, 0)).listed;
        depth := least(depth * 5, 20000);
    end loop;
    return seen;
end;
$$;
