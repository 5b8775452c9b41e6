-- The runs that a database holds, and what removes them.
create or replace function pgrag.evaluation_runs(
    evaluation_set text default null
)
returns setof pgrag.evaluation_runs
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    return query
    select r.*
    from pgrag.evaluation_runs as r
    where evaluation_runs.evaluation_set is null
        or r.set_name = lower(btrim(evaluation_runs.evaluation_set))
    order by r.run_id desc;
end;
$$;

comment on function pgrag.evaluation_runs(text) is
'The runs of a set (null: all), the latest first, each with everything that it was made with: name,
configuration, library, version, model, the settings in force, the digest of the SQL functions, and
with its averages.';

create or replace function pgrag._evaluation_run_id(
    run_id bigint
)
returns bigint
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    if not exists (
        select from pgrag.evaluation_runs as r where r.run_id = _evaluation_run_id.run_id
    ) then
        raise exception 'There is no evaluation run %.', _evaluation_run_id.run_id
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
    return _evaluation_run_id.run_id;
end;
$$;

create or replace function pgrag.remove_evaluation_set(
    evaluation_set text
)
returns integer
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := pgrag._evaluation_set_id(remove_evaluation_set.evaluation_set);
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

comment on function pgrag.remove_evaluation_set(text) is
'Removes a set with its queries, judgements and runs, and returns how many runs that were. The
library that it asks about stays. Errors: PGR10.';

create or replace function pgrag.remove_evaluation_run(
    run_id bigint
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    asked_id bigint := pgrag._evaluation_run_id(remove_evaluation_run.run_id);
begin
    delete from pgrag.evaluation_runs as r where r.run_id = asked_id;
    return asked_id;
end;
$$;

comment on function pgrag.remove_evaluation_run(bigint) is
'Removes a run with its results; returns its id. Errors: PGR11.';
