-- Who waits for a worker: for each of those who asked, the first of the jobs that could begin now,
-- how many of the others run, and when the last one began. besides: a running job that would make
-- room for one of its own version. Those who asked are found by skipping from one to the next in
-- the index, because one of them may have many thousands of jobs.
create or replace function _pgrag.turns(
    besides bigint default null
)
returns table (
    asked_by text,
    job_id bigint,
    priority smallint,
    run_at timestamptz,
    running bigint,
    last_at timestamptz
)
language sql
stable
set search_path from current
as $$
    with recursive askers as (
        select min(j.asked_by) as asked_by
        from pgrag.jobs as j
        where j.state in ('uploading', 'queued', 'running')
        union all
        select (
            select min(j.asked_by)
            from pgrag.jobs as j
            where j.asked_by > a.asked_by and j.state in ('uploading', 'queued', 'running')
        )
        from askers as a
        where a.asked_by is not null
    )
    select a.asked_by, f.job_id, f.priority, f.run_at, r.running, l.started_at
    from askers as a
    cross join lateral _pgrag.next_job(a.asked_by, turns.besides) as f
    cross join lateral (
        select count(*) as running
        from pgrag.jobs as j
        where j.asked_by = a.asked_by and j.state = 'running'
    ) as r
    cross join lateral (
        select max(j.started_at) as started_at
        from pgrag.jobs as j
        where j.asked_by = a.asked_by and j.started_at is not null
    ) as l;
$$;

-- The first job of somebody that could begin now, or this one if it could. Only administrators run
-- what reads any folder.
create or replace function _pgrag.next_job(
    asked_by text,
    besides bigint default null,
    wanted_id bigint default null
)
returns setof pgrag.jobs
language sql
stable
set search_path from current
as $$
    select j.*
    from pgrag.jobs as j
    where j.asked_by = next_job.asked_by
        and j.state = 'queued'
        and j.run_at <= now()
        and (next_job.wanted_id is null or j.job_id = next_job.wanted_id)
        and (j.confined or (select _pgrag.is_admin()) is not false)
        -- "not in" is hashed whatever the statistics say: thousands may wait for one version.
        and (j.library, j.version) not in (
            select r.library, r.version
            from pgrag.jobs as r
            where r.state = 'running' and r.job_id is distinct from next_job.besides
        )
    order by j.priority desc, j.run_at, j.job_id
    limit 1;
$$;
