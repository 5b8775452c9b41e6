-- The same search, and a record of it. What cannot be recorded is found all the same.
create or replace function pgrag.recorded_search(
    query text,
    library text default null,
    version text default null,
    arguments jsonb default '{}',
    query_embedding halfvec default null,
    mode text default 'hybrid',
    client text default 'sql',
    search_id uuid default gen_random_uuid()
)
returns setof pgrag.hit
language plpgsql
volatile
rows 10
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
declare
    started timestamptz := clock_timestamp();
    prepared jsonb;
    request pgrag.search_request;
    listing pgrag.listing;
    recorded_id uuid;
    -- The graph is no part of an arm alone, unless it is asked for.
    rest jsonb := case
            when recorded_search.mode in ('keyword', 'semantic') then '{"graph": false}'
            else '{}'
        end::jsonb
        || jsonb_strip_nulls(
            coalesce(recorded_search.arguments, '{}') - '{snippets, explain, filters}'::text[]
        )
        || jsonb_build_object('filters', recorded_search.arguments -> 'filters')
        || case recorded_search.mode
            when 'keyword' then '{"alpha": 0}'
            when 'semantic' then '{"alpha": 1}'
            else '{}'
        end::jsonb;
begin
    if recorded_search.mode not in ('hybrid', 'keyword', 'semantic') then
        raise exception 'mode must be hybrid, keyword or semantic, got %.',
            quote_literal(recorded_search.mode)
            using errcode = 'PGR01';
    end if;
    if recorded_search.arguments ?| '{query, library, version, query_embedding}' then
        raise exception 'arguments cannot hold query, library, version or query_embedding.'
            using errcode = 'PGR01', hint = 'Pass them beside it.';
    end if;
    execute format(
        'select * from pgrag._search_request(query => $1, library => $2, version => $3, '
        'query_embedding => $4%s)',
        ', ' || nullif(pgrag._named_arguments('pgrag._search_request', rest), '')
    )
    into request
    using recorded_search.query, recorded_search.library, recorded_search.version,
        recorded_search.query_embedding;
    prepared := pgrag._timed('{}', 'prepare', started);
    listing := pgrag._list_hits(request);
    listing.timings := prepared || listing.timings;
    recorded_id := pgrag._record_search(
        request, listing, recorded_search.client,
        extract(epoch from clock_timestamp() - started)::double precision * 1000,
        rest, listing.timings, recorded_search.search_id
    );
    return query
    select h.*
    from pgrag._hits(
        request,
        listing,
        coalesce((recorded_search.arguments ->> 'snippets')::boolean, false),
        coalesce((recorded_search.arguments ->> 'explain')::boolean, false),
        recorded_id
    ) as h;
end;
$$;

comment on function pgrag.recorded_search(text, text, text, jsonb, halfvec, text, text, uuid) is
'The hits of pgrag.search, recorded with query, arguments, timings and scores; search_id, in every
row, is what feedback is given to. arguments: those of pgrag.search by name, as in {"alpha": 0.4,
"levels": [1, 2]}. mode: hybrid, keyword (as pgrag.keyword_search) or semantic. client: who asks,
for the metrics. search_id: the id to record under, if the caller wants to know it beforehand. A
search that cannot be recorded (a replica, a role that only reads) returns its hits all the same,
with search_id null. Errors as in pgrag.search.';
