create or replace function pgrag.recorded_search(
    query text,
    library text default null,
    top_k integer default 10,
    version text default null,
    filters jsonb default null,
    query_embedding halfvec default null,
    options jsonb default '{}',
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
    parameters constant jsonb := _pgrag.search_document('search', options, jsonb_build_object(
        'library', library, 'version', version, 'top_k', top_k, 'filters', filters
    ));
    prepared jsonb;
    request _pgrag.search_request;
    -- The record keeps the parts of a score with links, whether or not the caller wants them.
    explained _pgrag.search_request;
    listing _pgrag.listing;
    -- The searched library and version, if only one.
    single record;
    recorded_id uuid;
begin
    request := _pgrag.make_request(query, parameters, query_embedding);
    prepared := _pgrag.timed('{}', 'prepare', clock_timestamp() - started);
    explained := request;
    explained.explain := true;
    listing := _pgrag.list_hits(explained);
    listing.timings := prepared || listing.timings;
    select l.name, v.label
    into single
    from pgrag.libraries as l
    left join pgrag.versions as v
        on v.library_id = l.library_id
        and v.version_id = (request.target).version_ids[1]
        and cardinality((request.target).version_ids) = 1
    where l.library_id = (request.target).library_ids[1]
        and cardinality((request.target).library_ids) = 1;
    recorded_id := _pgrag.write_search(
        request.query, null, recorded_search.client, single.name,
        single.label, coalesce(request.after_id, request.after_place) is not null,
        parameters - '{library, version, dependencies, snippets, explain, reranked}'::text[]
            || case
                when request.reranked is not null
                then jsonb_build_object(
                    'rerank', true,
                    'rerank_depth', (select count(*) from jsonb_object_keys(request.reranked))
                )
                else '{}'
            end,
        listing.timings,
        extract(epoch from clock_timestamp() - started)::double precision * 1000,
        recorded_search.search_id,
        listing.hits
    );
    -- Marks the cached vectors of this search as used, so they outlive unused vectors. Once an hour
    -- is enough; rows locked by another session are skipped, because they are in use anyway. None
    -- is cached where only the model inside the database is used.
    if _pgrag.may_record() and exists (select from pgrag.query_vectors) then
        begin
            update pgrag.query_vectors as q
            set used_at = now()
            from (
                select u.model_id, u.query_hash, u.caller
                from pgrag.query_vectors as u
                join pgrag.embedding_models as m on m.model_id = u.model_id
                where u.model_id = any (array(select k.model_id from unnest(request.queries) as k))
                    and u.query_hash = _pgrag.query_hash(m, request.words)
                    and u.caller = _pgrag.caller()
                    and u.used_at < now() - interval '1 hour'
                for update of u skip locked
            ) as used
            where q.model_id = used.model_id
                and q.query_hash = used.query_hash
                and q.caller = used.caller;
        exception
            when others then
                raise warning 'The vector of a query was not marked as used: %', sqlerrm;
        end;
    end if;
    perform _pgrag.note_no_match(listing.hits, request);
    return query select h.* from _pgrag.hits(request, listing, recorded_id) as h;
end;
$$;

comment on function pgrag.recorded_search is
'The hits of pgrag.search, recorded with query, options, timings and scores; give_feedback takes the
search_id in every row. options: other arguments of pgrag.search by name, as in {"alpha": 0.4,
"levels": [1, 2], "mode": "keyword"}. client: the caller, for the metrics. search_id: the id of the
record, if the caller needs it in advance. A search that cannot be recorded (a replica, a read-only
role) still returns its hits, with search_id null. Errors as in pgrag.search.';
