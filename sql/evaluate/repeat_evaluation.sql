create or replace function pgrag.repeat_evaluation(
    run_id bigint
)
returns bigint
language sql
volatile
set search_path from current
as $$
    select _pgrag.evaluate(
        _pgrag.evaluation_run(repeat_evaluation.run_id),
        array(
            select q
            from pgrag.evaluation_run_queries as q
            where q.run_id = repeat_evaluation.run_id
        )
    );
$$;

comment on function pgrag.repeat_evaluation is
'Repeats the queries, configuration and version of an earlier run with the library and functions of
today; returns the id of the new run. The set need not exist any more. Errors: PGR02, PGR11; errors
of the search function.';
