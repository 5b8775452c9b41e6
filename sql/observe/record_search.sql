-- Records a query and its hits. Errors become warnings: a caller must not lose the hits.
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
declare
    in_force jsonb := parameters;
begin
    begin
        in_force := _pgrag.recorded_arguments(query, library, parameters);
    exception
        when others then
            raise warning 'The search is recorded with the arguments as stated: %', sqlerrm;
    end;
    return _pgrag.write_search(
        query, hits, client,
        coalesce(
            lower(btrim(library)),
            -- Without a name, the search was in the only library.
            (select min(l.name) from pgrag.libraries as l having count(*) = 1)
        ),
        lower(btrim(version)),
        parameters ->> 'after' is not null,
        in_force, timings, duration_ms
    );
end;
$$;

comment on function pgrag.record_search is
'Records a search and returns its search_id, which give_feedback takes. hits: the rows of a search
function as JSON, the best first (jsonb_agg(to_jsonb(h))); of each, library, version, key, page_id,
document_id, score and its component scores are stored, of a hit with an explanation also its ranks
and the parts of a score with links. client: the caller, such as rest, cli or mcp. parameters: the
arguments of the search besides the query; with "after" the search counts as a further page of
results. timings: milliseconds by step; duration_ms: milliseconds in total. Returns null, and writes
nothing, if the transaction or the role is read-only; if writing fails, also with a WARNING.';

-- The arguments in force of a context or an answer, which the caller, the strategy of the question
-- or nobody has given.
create or replace function _pgrag.recorded_arguments(
    query text,
    library text,
    parameters jsonb
)
returns jsonb
language sql
stable
parallel safe
as $$
    select coalesce(
        (
            select jsonb_object_agg(a.key, a.value)
            from jsonb_each(
                _pgrag.arguments_in_force(
                    recorded_arguments.parameters,
                    _pgrag.strategy_for(
                        recorded_arguments.query,
                        coalesce(
                            recorded_arguments.parameters ->> 'intent',
                            (
                                select l.settings ->> 'intent'
                                from pgrag.libraries as l
                                where l.name = lower(btrim(recorded_arguments.library))
                            ),
                            'off'
                        )
                    )
                )
            ) as a
            where taken.names is not null
                and (recorded_arguments.parameters ? a.key or taken.names ? a.key)
        ),
        recorded_arguments.parameters
    )
    from (
        select _pgrag.argument_rules() -> 'functions'
            -> (recorded_arguments.parameters ->> 'function') as names
    ) as taken;
$$;

-- Takes the hits as a caller states them, or as a search has ranked them. The search is inserted
-- first, because a role may add hits only to its own searches. Library, version and page key are
-- stored by name: the page may be removed later.
create or replace function _pgrag.write_search(
    query text,
    hits jsonb,
    client text,
    library text,
    version text,
    continued boolean,
    parameters jsonb,
    timings jsonb,
    duration_ms double precision,
    search_id uuid default null,
    ranked _pgrag.ranked_hit[] default null
)
returns uuid
language plpgsql
volatile
set plan_cache_mode = force_generic_plan
as $$
declare
    new_id uuid := coalesce(write_search.search_id, gen_random_uuid());
    listed pgrag.search_hits[];
begin
    if not _pgrag.may_record() then
        return null;
    end if;
    if client <> 'sql' and pg_current_xact_id_if_assigned() is null then
        -- The record is alone in its transaction: the caller need not wait for the WAL flush.
        perform set_config('synchronous_commit', 'off', true);
    end if;
    listed := case
        -- Hits as a caller states them in JSON; what a hit lacks is looked up.
        when ranked is null
        then array(
            select h
            from jsonb_array_elements(
                case when jsonb_typeof(hits) = 'array' then hits end
            ) with ordinality as e (value, rank)
            cross join lateral (
                select case when jsonb_typeof(e.value) = 'object' then e.value else '{}' end
            ) as stated (hit)
            left join pgrag.libraries as by_id
                on by_id.library_id = (stated.hit ->> 'library_id')::bigint
            left join pgrag.libraries as by_name on by_name.name = stated.hit ->> 'library'
            left join lateral (
                select p.key, v.label
                from pgrag.pages as p
                join pgrag.versions as v
                    on v.library_id = p.library_id and v.version_id = p.version_id
                where p.library_id = coalesce(by_id.library_id, by_name.library_id)
                    and p.page_id = (stated.hit ->> 'page_id')::bigint
                offset 0
            ) as stored on stated.hit ->> 'key' is null
            -- One after the other, because || would copy the texts of the hit.
            cross join lateral jsonb_populate_record(
                jsonb_populate_record(
                    jsonb_populate_record(
                        null::pgrag.search_hits,
                        jsonb_build_object(
                            'keyword_rank', stated.hit #> '{explanation,keyword,rank}',
                            'semantic_rank', stated.hit #> '{explanation,semantic,rank}',
                            'passage_score', stated.hit #> '{explanation,keyword,passage_score}',
                            'page_score', stated.hit #> '{explanation,keyword,page_score}',
                            'section_score', stated.hit #> '{explanation,section_score}',
                            'graph', stated.hit #> '{explanation,graph}'
                        )
                    ),
                    stated.hit
                ),
                jsonb_build_object(
                    'search_id', new_id,
                    'rank', e.rank,
                    'library_id', coalesce(
                        (stated.hit ->> 'library_id')::bigint, by_name.library_id
                    ),
                    'library', coalesce(stated.hit ->> 'library', by_id.name),
                    'version', coalesce(stated.hit ->> 'version', stored.label),
                    'page_key', coalesce(stated.hit ->> 'key', stored.key)
                )
            ) as h
        )
        -- Columns in the order of pgrag.search_hits.
        else array(
            select row(
                new_id, h.ordinality, h.library_id, h.page_id, h.document_id, l.name, v.label,
                p.key, h.score, h.hybrid_score, h.keyword_score, h.semantic_score,
                h.keyword_rank, h.semantic_rank, h.passage_score, h.page_score,
                h.section_score, h.graph, h.confidence
            )::pgrag.search_hits
            from unnest(ranked) with ordinality as h
            join pgrag.pages as p on p.library_id = h.library_id and p.page_id = h.page_id
            join pgrag.versions as v
                on v.library_id = p.library_id and v.version_id = p.version_id
            join pgrag.libraries as l on l.library_id = h.library_id
        )
    end;
    insert into pgrag.searches (
        search_id, client, query, library, version, continued, parameters, timings,
        duration_ms, hit_count, top_score, mean_score, caller, confidence
    )
    select
        new_id,
        left(coalesce(write_search.client, 'sql'), 100),
        left(coalesce(write_search.query, ''), 10000),
        write_search.library, write_search.version,
        coalesce(write_search.continued, false),
        coalesce(jsonb_strip_nulls(write_search.parameters), '{}'),
        coalesce(write_search.timings, '{}'), write_search.duration_ms,
        count(*), max(l.score), avg(l.score), _pgrag.caller(), max(l.confidence)
    from unnest(listed) as l;
    insert into pgrag.search_hits
    select l.* from unnest(listed) as l;
    perform _pgrag.forget_expired_searches();
    return new_id;
exception
    when others then
        raise warning 'The search was not recorded: %', sqlerrm;
        return null;
end;
$$;

-- A replica, a read-only transaction and a read-only role record nothing, without an error.
create or replace function _pgrag.may_record()
returns boolean
language sql
stable
parallel safe
as $$
    select not pg_catalog.current_setting('transaction_read_only')::boolean
        and pg_catalog.has_table_privilege('pgrag.searches', 'insert')
        and pg_catalog.has_table_privilege('pgrag.search_hits', 'insert');
$$;

-- One call in a hundred deletes searches whose time is over, twice as many as a hundred calls add.
-- A role without the right to delete records leaves that to others.
create or replace function _pgrag.forget_expired_searches()
returns void
language plpgsql
volatile
as $$
begin
    if random() < 0.01
        and has_table_privilege('pgrag.searches', 'update')
        and (
            select bool_and(has_table_privilege('pgrag.' || t.name, 'delete'))
            from unnest('{searches, search_hits, feedback, answers}'::text[]) as t (name)
        )
    then
        perform _pgrag.forget_searches(now() - make_interval(days => s.retention_days), 200)
        from pgrag.observation_settings as s
        where s.retention_days is not null;
    end if;
end;
$$;

-- Deletes a batch of the oldest searches; skips locked rows, so it never waits.
create or replace function _pgrag.forget_searches(
    before timestamptz,
    batch_size integer
)
returns bigint
language plpgsql
volatile
set plan_cache_mode = force_generic_plan
as $$
declare
    old_ids uuid[] := array(
        select s.search_id
        from pgrag.searches as s
        where s.at < forget_searches.before
        order by s.at
        limit forget_searches.batch_size
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
