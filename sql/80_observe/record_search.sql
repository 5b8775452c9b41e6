-- What was asked and what was found, written by whoever searched. Nothing that goes wrong here may
-- cost a search its answer, so nothing leaves these functions but a warning.
create or replace function pgrag.record_search(
    query text,
    hits jsonb,
    client text default 'sql',
    library text default null,
    version text default null,
    parameters jsonb default null,
    timings jsonb default null,
    duration_ms double precision default null
)
returns uuid
language plpgsql
volatile
set search_path from current
as $$
begin
    return pgrag._write_search(
        query,
        hits,
        client,
        coalesce(
            lower(btrim(library)),
            -- Who names none has searched the only one there is.
            (select min(l.name) from pgrag.libraries as l having count(*) = 1)
        ),
        lower(btrim(version)),
        parameters ->> 'after' is not null, parameters, timings, duration_ms
    );
end;
$$;

comment on function pgrag.record_search(text, jsonb, text, text, text, jsonb, jsonb, double precision) is
'Records a search and returns its search_id, which give_feedback takes. hits: the rows of a search
function as JSON, the best first (jsonb_agg(to_jsonb(h))); of each, library, version, key, page_id,
document_id, score and the scores behind it are kept. client: who asked, such as rest, cli or mcp.
parameters: what was asked for besides the query; with "after" it counts as a further page of
results. timings: milliseconds by step; duration_ms: milliseconds altogether. Returns null, and
writes nothing, where the transaction or the role only reads; where writing fails, also with a
WARNING.';

-- The same for what pgrag.search works with.
create or replace function pgrag._record_search(
    request pgrag.search_request,
    listing pgrag.listing,
    client text,
    duration_ms double precision,
    parameters jsonb,
    timings jsonb default null,
    search_id uuid default null
)
returns uuid
language plpgsql
volatile
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
declare
    found_id uuid;
    target pgrag.search_target := request.target;
    library text;
    version text;
begin
    if not pgrag._may_record() then
        return null;
    end if;
    if cardinality(target.library_ids) = 1 then
        library := (
            select l.name
            from pgrag.libraries as l
            where l.library_id = target.library_ids[1]
        );
        if cardinality(target.version_ids) = 1 then
            version := (
                select v.label
                from pgrag.versions as v
                where v.library_id = target.library_ids[1]
                    and v.version_id = target.version_ids[1]
            );
        end if;
    end if;
    found_id := pgrag._write_search(
        request.query, to_jsonb(listing.hits), client, library, version,
        coalesce(request.after_id, request.after_place) is not null, parameters,
        coalesce(timings, listing.timings), duration_ms, search_id
    );
    perform pgrag._keep_query_vectors(request.words, request.queries);
    return found_id;
end;
$$;

-- One statement for a search and its hits. The names of what was hit are looked up where the rows
-- do not say them: by the time that somebody asks, it may have been removed.
create or replace function pgrag._write_search(
    query text,
    hits jsonb,
    client text,
    library text,
    version text,
    continued boolean,
    parameters jsonb,
    timings jsonb,
    duration_ms double precision,
    search_id uuid default null
)
returns uuid
language plpgsql
volatile
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
declare
    new_id uuid := coalesce(_write_search.search_id, gen_random_uuid());
begin
    if not pgrag._may_record() then
        return null;
    end if;
    if client <> 'sql' and pg_current_xact_id_if_assigned() is null then
        -- A face's call is a transaction of its own, and its caller shall not wait for the disk.
        perform set_config('synchronous_commit', 'off', true);
    end if;
    with listed as (
        select
            place.rank,
            coalesce(
                h.library_id,
                (select l.library_id from pgrag.libraries as l where l.name = h.library)
            ) as owner_id,
            h.*
        from jsonb_array_elements(
            case when jsonb_typeof(_write_search.hits) = 'array' then _write_search.hits end
        ) with ordinality as place (hit, rank)
        cross join lateral jsonb_to_record(
            case when jsonb_typeof(place.hit) = 'object' then place.hit end
        ) as h (
            library_id bigint,
            page_id bigint,
            document_id bigint,
            library text,
            version text,
            key text,
            score double precision,
            hybrid_score double precision,
            keyword_score double precision,
            semantic_score double precision,
            keyword_rank integer,
            semantic_rank integer,
            passage_score double precision,
            page_score double precision,
            section_score double precision
        )
    ), search as (
        insert into pgrag.searches (
            search_id, client, query, library, version, continued, parameters, timings,
            duration_ms, hit_count, top_score, mean_score
        )
        select
            new_id,
            left(coalesce(_write_search.client, 'sql'), 100),
            left(coalesce(_write_search.query, ''), 10000),
            _write_search.library,
            _write_search.version,
            coalesce(_write_search.continued, false),
            coalesce(jsonb_strip_nulls(_write_search.parameters), '{}'),
            coalesce(_write_search.timings, '{}'),
            _write_search.duration_ms,
            count(*),
            max(l.score),
            avg(l.score)
        from listed as l
    )
    insert into pgrag.search_hits (
        search_id, rank, library_id, page_id, document_id, library, version, page_key, score,
        hybrid_score, keyword_score, semantic_score, keyword_rank, semantic_rank, passage_score,
        page_score, section_score
    )
    select
        new_id,
        l.rank,
        l.owner_id,
        l.page_id,
        l.document_id,
        coalesce(
            l.library,
            (select n.name from pgrag.libraries as n where n.library_id = l.owner_id)
        ),
        coalesce(l.version, stored.label),
        coalesce(l.key, stored.key),
        l.score,
        l.hybrid_score,
        l.keyword_score,
        l.semantic_score,
        l.keyword_rank,
        l.semantic_rank,
        l.passage_score,
        l.page_score,
        l.section_score
    from listed as l
    left join lateral (
        select p.key, v.label
        from pgrag.pages as p
        join pgrag.versions as v
            on v.library_id = p.library_id and v.version_id = p.version_id
        where p.library_id = l.owner_id and p.page_id = l.page_id
        offset 0
    ) as stored on l.key is null;

    if random() < 0.01 and pgrag._may_forget() then
        -- Twice as many as were added since it was last done, so that it keeps up.
        perform pgrag._forget_searches(
            now() - make_interval(days => s.retention_days), 200
        )
        from pgrag.observation_settings as s
        where s.retention_days is not null;
    end if;
    return new_id;
exception
    when others then
        raise warning 'The search was not recorded: %', sqlerrm;
        return null;
end;
$$;

-- On a replica, in a read-only transaction and for a role that only reads there is no record, and
-- that is no fault.
create or replace function pgrag._may_record()
returns boolean
language sql
stable
parallel safe
as $$
    select not pg_catalog.current_setting('transaction_read_only')::boolean
        and pg_catalog.has_table_privilege('pgrag.searches', 'insert')
        and pg_catalog.has_table_privilege('pgrag.search_hits', 'insert');
$$;

-- A role may add records and not remove them; then their owner does.
create or replace function pgrag._may_forget()
returns boolean
language sql
stable
parallel safe
as $$
    select pg_catalog.has_table_privilege('pgrag.searches', 'update')
        and pg_catalog.bool_and(pg_catalog.has_table_privilege(t.name, 'delete'))
    from (values
        ('pgrag.searches'), ('pgrag.search_hits'), ('pgrag.feedback'), ('pgrag.answers')
    ) as t (name);
$$;

-- The oldest first, as many as asked for, and never waiting for somebody else.
create or replace function pgrag._forget_searches(
    before timestamptz,
    batch_size integer
)
returns bigint
language plpgsql
volatile
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
declare
    old_ids uuid[] := array(
        select s.search_id
        from pgrag.searches as s
        where s.at < _forget_searches.before
        order by s.at
        limit _forget_searches.batch_size
        for update skip locked
    );
begin
    if cardinality(old_ids) = 0 then
        return 0;
    end if;
    delete from pgrag.search_hits as h where h.search_id = any (old_ids);
    delete from pgrag.feedback as f where f.search_id = any (old_ids);
    delete from pgrag.answers as a where a.search_id = any (old_ids);
    delete from pgrag.searches as s where s.search_id = any (old_ids);
    return cardinality(old_ids);
end;
$$;

-- A vector that served this search is younger than one that nobody asked for since. Once an hour is
-- often enough, and a row that somebody else has in hand is as good as kept.
create or replace function pgrag._keep_query_vectors(
    words text,
    queries pgrag.library_query[]
)
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    update pgrag.query_vectors as q
    set used_at = now()
    from (
        select u.model_id, u.query_hash
        from pgrag.query_vectors as u
        join pgrag.embedding_models as m on m.model_id = u.model_id
        where u.model_id = any (array(select k.model_id from unnest(queries) as k))
            and u.query_hash = pgrag._query_hash(m, words)
            and u.used_at < now() - interval '1 hour'
        for update of u skip locked
    ) as used
    where q.model_id = used.model_id and q.query_hash = used.query_hash;
exception
    when others then
        raise warning 'The vector of a query was not marked as used: %', sqlerrm;
end;
$$;
