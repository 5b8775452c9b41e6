create or replace function pgrag.remove_evaluation_run(
    run_id bigint
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
begin
    perform _pgrag.evaluation_run(remove_evaluation_run.run_id);
    delete from pgrag.evaluation_runs as r where r.run_id = remove_evaluation_run.run_id;
    return remove_evaluation_run.run_id;
end;
$$;

comment on function pgrag.remove_evaluation_run is
'Removes a run with its results; returns its id. Errors: PGR11.';
