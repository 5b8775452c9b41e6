create or replace function pgrag.jobs(
    wanted_state text default null,
    wanted_library text default null,
    top_k integer default 100,
    before bigint default null
)
returns table (
    job_id bigint,
    library text,
    version text,
    source text,
    state text,
    attempts integer,
    max_attempts integer,
    priority integer,
    run_at timestamptz,
    every interval,
    worker text,
    progress jsonb,
    asked_by text,
    created_at timestamptz,
    started_at timestamptz,
    finished_at timestamptz,
    place bigint,
    waits_for bigint
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    perform _pgrag.check_choice(
        'wanted_state', coalesce(jobs.wanted_state, 'queued'),
        '{uploading, queued, running, succeeded, failed, cancelled}'
    );
    return query
    with listed as (
        select j.*
        from pgrag.jobs as j
        where (jobs.wanted_state is null or j.state = jobs.wanted_state)
            and (jobs.wanted_library is null or j.library = lower(btrim(jobs.wanted_library)))
            and (jobs.before is null or j.job_id < jobs.before)
        order by j.job_id desc
        limit least(greatest(coalesce(jobs.top_k, 100), 0), 10000)
    )
    select
        j.job_id, j.library, j.version, coalesce(j.arguments ->> 'source', 'upload'), j.state,
        j.attempts, j.max_attempts, j.priority::integer, j.run_at, j.every, j.worker, j.progress,
        j.asked_by, j.created_at, j.started_at, j.finished_at, p.place, p.waits_for
    from listed as j
    left join _pgrag.places(array(
        select q.job_id from listed as q where q.state = 'queued'
    )) as p on p.job_id = j.job_id
    order by j.job_id desc;
end;
$$;

comment on function pgrag.jobs is
'The jobs of the libraries that the caller may see, the latest first: at most top_k with an id below
before, in one state (uploading, queued, running, succeeded, failed, cancelled), of one library;
null for all. source: upload for uploaded files. place, waits_for: as of pgrag.job. Errors: PGR01
for a state that does not exist.';
