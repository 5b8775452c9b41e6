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
        array_fill(request.candidate_count, array[cardinality(ranking.hits)]),
        request.candidate_count,
        ranking.plans
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
    listing pgrag.listing := ('{}', '{}', request.start_depth, null);
    seen bigint[] := pgrag._listed_before(request);
begin
    loop
        ranking := pgrag._rank(request, seen, request.match_count - cardinality(listing.hits));
        listing.hits := listing.hits || ranking.hits;
        listing.depths := listing.depths
            || array_fill(request.candidate_count, array[cardinality(ranking.hits)]);
        listing.plans := ranking.plans;
        exit when cardinality(listing.hits) >= request.match_count
            or pgrag._is_complete(request, ranking);
        seen := ranking.listed;
        request.after_score := null;
        request.candidate_count := least(request.candidate_count * 5, 20000);
    end loop;
    return listing;
end;
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
