-- A run says everything that its figures depend on, so that it can be repeated and believed.
create or replace function pgrag.run_evaluation(
    evaluation_set text,
    name text default 'hybrid',
    configuration jsonb default null
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    owner_set_id bigint := pgrag._evaluation_set_id(run_evaluation.evaluation_set);
    wanted jsonb := coalesce(
        run_evaluation.configuration, pgrag._builtin_configuration(run_evaluation.name)
    );
    complaint record;
    run pgrag.evaluation_runs;
begin
    select c.complaint, c.hint into complaint from pgrag.evaluation_complaints(wanted) as c limit 1;
    if found then
        raise exception '%', complaint.complaint
            using errcode = 'PGR01', hint = coalesce(complaint.hint, '');
    end if;

    insert into pgrag.evaluation_runs (
        set_name, set_digest, unit, name, configuration, library, version, model, settings,
        functions, query_count, started_at
    )
    select
        s.name,
        s.digest,
        s.unit,
        coalesce(run_evaluation.name, 'unnamed'),
        c.configuration,
        l.name,
        (
            select v.version
            from pgrag.resolve_version(l.name, c.configuration ->> 'version') as v
        ),
        coalesce(c.configuration #>> '{arguments,model}', m.name),
        pgrag._settings_with(l.settings, c.configuration -> 'settings'),
        (select max(f.digest) from pgrag.installed_functions as f),
        (select count(*) from pgrag.evaluation_queries as q where q.set_id = s.set_id),
        clock_timestamp()
    from pgrag.evaluation_sets as s
    cross join lateral (
        select pgrag._completed_configuration(wanted) as configuration
    ) as c
    join pgrag.libraries as l on l.library_id = pgrag._library_id(
        coalesce(c.configuration ->> 'library', s.library)
            || coalesce('-' || (c.configuration ->> 'variant'), '')
    )
    left join pgrag.embedding_models as m on m.model_id = l.model_id
    where s.set_id = owner_set_id
    returning * into run;

    insert into pgrag.evaluation_run_queries (run_id, query_id, query, excluded, judgements)
    select
        run.run_id, q.query_id, q.query, q.excluded, jsonb_object_agg(j.target, j.grade)
    from pgrag.evaluation_queries as q
    join pgrag.evaluation_judgements as j
        on j.set_id = q.set_id and j.query_id = q.query_id
    where q.set_id = owner_set_id
    group by q.query_id, q.query, q.excluded;

    perform pgrag._evaluate(run);
    return run.run_id;
end;
$$;

comment on function pgrag.run_evaluation(text, text, jsonb) is
'Asks every query of a set, keeps what came back and its averages, and returns the run''s id.
configuration (null: the built-in one called name, see evaluation_configurations): {"function": any
function that returns pgrag.hit, "arguments": {its arguments by name}, "aggregate": how the hits of
one page become one: max (default: the page stands where its best hit does), mean, sum or rrf,
"depth": results kept for a query (default 20), "pool": hits asked for where aggregate is not max or
chunks are judged (default five times depth), "settings": settings of the library for this run only
(see configure_library; rolled back afterwards, the library stays locked meanwhile), "version",
"library": another library with the same pages, "variant": the one called LIBRARY-VARIANT}. Errors:
PGR01, naming the fault, also where no query got a result; PGR02, PGR03, PGR10; those of the
function.';

create or replace function pgrag.repeat_evaluation(
    run_id bigint
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    earlier_id bigint := pgrag._evaluation_run_id(repeat_evaluation.run_id);
    run pgrag.evaluation_runs;
begin
    insert into pgrag.evaluation_runs (
        set_name, set_digest, unit, name, configuration, library, version, model, settings,
        functions, query_count, started_at
    )
    select
        r.set_name, r.set_digest, r.unit, r.name, r.configuration, r.library, r.version, r.model,
        pgrag._settings_with(l.settings, r.configuration -> 'settings'),
        (select max(f.digest) from pgrag.installed_functions as f), r.query_count, clock_timestamp()
    from pgrag.evaluation_runs as r
    join pgrag.libraries as l on l.library_id = pgrag._library_id(r.library)
    where r.run_id = earlier_id
    returning * into run;
    insert into pgrag.evaluation_run_queries (run_id, query_id, query, excluded, judgements)
    select run.run_id, q.query_id, q.query, q.excluded, q.judgements
    from pgrag.evaluation_run_queries as q
    where q.run_id = earlier_id;
    perform pgrag._evaluate(run);
    return run.run_id;
end;
$$;

comment on function pgrag.repeat_evaluation(bigint) is
'Asks the queries of an earlier run again, with its configuration and version, in the library and
with the functions of today; returns the id of the new run. The set itself need not exist any more.
Errors: PGR02, PGR11; those of the function.';

create or replace function pgrag._evaluate(
    run pgrag.evaluation_runs
)
returns void
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    insert into pgrag.evaluation_results (run_id, query_id, rank, target, document_id, score)
    select (run).run_id, h.query_id, h.rank, h.target, h.document_id, h.score
    from unnest(pgrag._evaluated_hits(run)) as h;
    if not found then
        raise exception 'Not one of % queries of the set % got a result from %.',
            (run).query_count, quote_literal((run).set_name), quote_literal((run).library)
            using errcode = 'PGR01',
                hint = 'Is the library empty, or does an argument shut everything out?';
    end if;
    update pgrag.evaluation_runs as r
    set averages = (
            select coalesce(jsonb_object_agg(m.metric, m.score), '{}')
            from pgrag.evaluation_metrics(
                (run).run_id,
                array(
                    select w.metric
                    from unnest(
                        '{ndcg@10, mrr@10, recall@20, precision@5, hit_rate@10}'::text[]
                    ) as w (metric)
                    where pgrag._metric_depth(w.metric)
                        <= ((run).configuration ->> 'depth')::integer
                )
            ) as m
        ),
        finished_at = clock_timestamp()
    where r.run_id = (run).run_id;
end;
$$;

create or replace function pgrag._completed_configuration(
    configuration jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select completed.configuration || pg_catalog.jsonb_build_object(
        'pool',
        coalesce(
            (completed.configuration ->> 'pool')::integer,
            least(1000, 5 * (completed.configuration ->> 'depth')::integer)
        )
    )
    from (
        select '{"arguments": {}, "aggregate": "max", "depth": 20, "settings": {}}'::jsonb
            || pg_catalog.jsonb_strip_nulls(
                _completed_configuration.configuration - 'arguments'
            )
            || pg_catalog.jsonb_build_object(
                'arguments', coalesce(_completed_configuration.configuration -> 'arguments', '{}')
            ) as configuration
    ) as completed;
$$;

create or replace function pgrag._builtin_configuration(
    name text
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    found_configuration jsonb := (
        select c.configuration
        from pgrag.evaluation_configurations() as c
        where c.name = _builtin_configuration.name
    );
begin
    if found_configuration is null then
        raise exception 'There is no configuration %.',
            quote_nullable(left(_builtin_configuration.name, 100))
            using errcode = 'PGR01',
                hint = 'Built in are ' || (
                    select string_agg(c.name, ', ') from pgrag.evaluation_configurations() as c
                ) || '; others must be given whole.';
    end if;
    return found_configuration;
end;
$$;

-- As configure_library would leave them.
create or replace function pgrag._settings_with(
    settings jsonb,
    changes jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select pgrag.effective_settings(
        _settings_with.settings
        || _settings_with.changes
        || pg_catalog.jsonb_build_object(
            'field_weights',
            coalesce(_settings_with.settings -> 'field_weights', '{}')
                || coalesce(_settings_with.changes -> 'field_weights', '{}'),
            'graph',
            coalesce(_settings_with.settings -> 'graph', '{}')
                || coalesce(_settings_with.changes -> 'graph', '{}')
        )
    );
$$;
