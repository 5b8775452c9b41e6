create or replace function pgrag.remove_evaluation_set(
    evaluation_set text
)
returns integer
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := _pgrag.evaluation_set_id(remove_evaluation_set.evaluation_set);
    removed integer;
begin
    delete from pgrag.evaluation_runs as r
    using pgrag.evaluation_sets as s
    where s.set_id = owner_id and r.set_name = s.name;
    get diagnostics removed = row_count;
    delete from pgrag.evaluation_sets as s where s.set_id = owner_id;
    return removed;
end;
$$;

comment on function pgrag.remove_evaluation_set is
'Removes a set with its queries, judgements and runs; returns the number of runs. The library stays.
Errors: PGR10.';
