create or replace function pgrag.evaluation_runs(
    evaluation_set text default null
)
returns setof pgrag.evaluation_runs
language sql
stable
parallel safe
set search_path from current
as $$
    select r.*
    from pgrag.evaluation_runs as r
    where evaluation_runs.evaluation_set is null
        or r.set_name = lower(btrim(evaluation_runs.evaluation_set))
    order by r.run_id desc;
$$;

comment on function pgrag.evaluation_runs is
'The runs of a set (null for all), the latest first, each with all its inputs (name, configuration,
library, version, model, the settings in force, the digest of the SQL functions) and its averages.';

create or replace function _pgrag.evaluation_run(
    run_id bigint
)
returns pgrag.evaluation_runs
language plpgsql
stable
parallel safe
as $$
declare
    run pgrag.evaluation_runs;
begin
    select r.* into run from pgrag.evaluation_runs as r where r.run_id = evaluation_run.run_id;
    if not found then
        raise exception 'There is no evaluation run %.', evaluation_run.run_id
            using errcode = 'PGR11',
                hint = coalesce(
                    (
                        select 'The latest are: '
                            || string_agg(format('%s (%s)', r.run_id, r.set_name), ', ') || '.'
                        from (
                            select l.run_id, l.set_name
                            from pgrag.evaluation_runs as l
                            order by l.run_id desc
                            limit 5
                        ) as r
                    ),
                    'None was made yet: pgrag eval run SET.'
                );
    end if;
    return run;
end;
$$;
