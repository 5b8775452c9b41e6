create or replace function pgrag.job(
    wanted_id bigint
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
    waits_for bigint,
    arguments jsonb,
    confined boolean,
    leased_until timestamptz,
    is_cancelling boolean,
    failures jsonb,
    report jsonb,
    uploaded_bytes bigint
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    return query
    select
        j.job_id, j.library, j.version, coalesce(j.arguments ->> 'source', 'upload'), j.state,
        j.attempts, j.max_attempts, j.priority::integer, j.run_at, j.every, j.worker, j.progress,
        j.asked_by, j.created_at, j.started_at, j.finished_at, p.place, p.waits_for, j.arguments,
        j.confined, j.leased_until, j.is_cancelling, j.failures, j.report, j.uploaded_bytes
    from pgrag.jobs as j
    left join _pgrag.places(array[job.wanted_id]) as p on p.job_id = j.job_id
    where j.job_id = job.wanted_id;
    if not found then
        perform _pgrag.refuse_unknown_job(job.wanted_id);
    end if;
end;
$$;

comment on function pgrag.job is
'One job. failures: its failed attempts with time, worker and reason, the latest 20. report: that of
its last success, as pgrag index --json prints it. progress: pages done, total, and passages that
are written; null while a website is fetched. place: of a job that is queued, its place among those
of who asked for it; between those who ask, jobs take turns. waits_for: the running job of the same
version, after which it can begin. uploaded_bytes: what is stored of its upload. Errors: PGR18.';
