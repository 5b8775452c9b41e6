-- A run stores everything that its figures depend on, so it can be reproduced.
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
    owner_set_id bigint := _pgrag.evaluation_set_id(run_evaluation.evaluation_set);
    stated jsonb := coalesce(
        run_evaluation.configuration,
        (
            select c.configuration
            from _pgrag.evaluation_configurations() as c
            where c.name = run_evaluation.name
        )
    );
    complaint record;
    run pgrag.evaluation_runs;
begin
    if stated is null then
        raise exception 'There is no configuration %.',
            quote_nullable(left(run_evaluation.name, 100))
            using errcode = 'PGR01',
                hint = 'Built in are ' || (
                    select string_agg(c.name, ', ') from _pgrag.evaluation_configurations() as c
                ) || '; others must be given whole.';
    end if;
    select c.complaint, c.hint into complaint
    from _pgrag.evaluation_complaints(stated) as c
    limit 1;
    if found then
        raise exception '%', complaint.complaint
            using errcode = 'PGR01', hint = coalesce(complaint.hint, '');
    end if;
    stated := '{"arguments": {}, "aggregate": "max", "depth": 20, "settings": {}}'::jsonb
        || jsonb_strip_nulls(stated - 'arguments')
        || jsonb_build_object('arguments', coalesce(stated -> 'arguments', '{}'));
    -- As integers: 20.0 is a whole number too.
    run.configuration := stated || jsonb_build_object(
        'depth', (stated -> 'depth')::integer,
        'pool', coalesce((stated -> 'pool')::integer, least(1000, 5 * (stated -> 'depth')::integer))
    );
    run.name := coalesce(run_evaluation.name, 'unnamed');
    select s.name, s.digest, s.unit, coalesce(stated ->> 'library', s.library)
    into run.set_name, run.set_digest, run.unit, run.library
    from pgrag.evaluation_sets as s
    where s.set_id = owner_set_id;
    run.version := (pgrag.resolve_version(run.library, stated ->> 'version')).version;
    select coalesce(stated #>> '{arguments,model}', m.name)
    into run.model
    from pgrag.libraries as l
    left join pgrag.embedding_models as m on m.model_id = l.model_id
    where l.library_id = _pgrag.library_id(run.library);
    return _pgrag.evaluate(run, array(
        select
            (null, q.query_id, q.query, q.excluded, jsonb_object_agg(j.target, j.grade))
                ::pgrag.evaluation_run_queries
        from pgrag.evaluation_queries as q
        join pgrag.evaluation_judgements as j on j.set_id = q.set_id and j.query_id = q.query_id
        where q.set_id = owner_set_id
        group by q.query_id, q.query, q.excluded
        -- Without a relevant target, a query would always count as failed.
        having max(j.grade) > 0
    ));
end;
$$;

comment on function pgrag.run_evaluation is
'Runs every query of a set, stores the results and their mean metrics, and returns the run''s id.
configuration (null: the built-in configuration called name, see evaluation_configurations):
{"function": a function of the schema pgrag that returns pgrag.hit, "arguments": {its arguments by
name}, "aggregate": how the hits of a page are merged: max (default: the rank of the best hit),
mean, sum or rrf, "depth": results kept for a query (default 20), "pool": hits requested if
aggregate is not max or passages are judged (default five times depth), "settings": settings of the
library for this run only (see configure_library; rolled back afterwards; the library is locked
until then), "version", "library": another library with the same pages}. Errors: PGR01, naming the
fault, also if no query has a result; PGR02, PGR03, PGR10; errors of the search function.';

-- Stores a new run of these queries. Its settings are those after configure_library.
create or replace function _pgrag.evaluate(
    run pgrag.evaluation_runs,
    queries pgrag.evaluation_run_queries[]
)
returns bigint
language plpgsql
volatile
as $$
declare
    changes jsonb := (run).configuration -> 'settings';
begin
    if queries = '{}' then
        raise exception 'No query of the set % has a judgement above 0.',
            quote_literal((run).set_name)
            using errcode = 'PGR01', hint = 'Grade a result of a query as relevant first.';
    end if;
    select
        l.name,
        _pgrag.effective_settings(l.settings || changes || jsonb_build_object(
            'field_weights',
            coalesce(l.settings -> 'field_weights', '{}')
                || coalesce(changes -> 'field_weights', '{}'),
            'graph',
            coalesce(l.settings -> 'graph', '{}') || coalesce(changes -> 'graph', '{}')
        ))
    into run.library, run.settings
    from pgrag.libraries as l
    where l.library_id = _pgrag.library_id((run).library);
    run.functions := (select max(f.digest) from pgrag.installed_functions as f);
    run.query_count := cardinality(queries);
    run.averages := '{}';
    run.started_at := clock_timestamp();
    run.finished_at := null;
    insert into pgrag.evaluation_runs overriding user value
    select (run).*
    returning run_id into run.run_id;
    insert into pgrag.evaluation_run_queries (run_id, query_id, query, excluded, judgements)
    select (run).run_id, q.query_id, q.query, q.excluded, q.judgements
    from unnest(queries) as q;
    insert into pgrag.evaluation_results (run_id, query_id, rank, target, document_id, score)
    select (run).run_id, h.query_id, h.rank, h.target, h.document_id, h.score
    from unnest(_pgrag.evaluated_hits(run)) as h;
    if not found then
        raise exception 'Not one of % queries of the set % got a result from %.',
            (run).query_count, quote_literal((run).set_name), quote_literal((run).library)
            using errcode = 'PGR01',
                hint = 'Is the library empty, or does an argument exclude everything?';
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
                    where _pgrag.metric_depth(w.metric)
                        <= ((run).configuration ->> 'depth')::integer
                )
            ) as m
        ),
        finished_at = clock_timestamp()
    where r.run_id = (run).run_id;
    return (run).run_id;
end;
$$;
