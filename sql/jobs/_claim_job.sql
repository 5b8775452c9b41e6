-- The next job for a worker. Those who asked take turns: of equal priority, first comes who has
-- fewest jobs running, then whose last turn is longest ago, however many jobs the others have.
-- wanted_id: this job, out of turn. is_lent: only a job of somebody for whom the worker has none.
-- Only the clock of the database decides whether a job is due and a lease has ended.
create or replace function _pgrag.claim_job(
    worker text,
    lease interval default '1 minute',
    wanted_id bigint default null,
    is_lent boolean default false
)
returns table (
    job_id bigint,
    claim integer,
    library text,
    version text,
    arguments jsonb,
    confined boolean,
    attempts integer,
    is_upload boolean
)
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    own_name constant text := left(claim_job.worker, 200);
    chosen_id bigint;
begin
    perform _pgrag.reclaim_jobs();
    if random() < 0.01 then
        perform _pgrag.forget_jobs();
    end if;
    -- One after the other: two workers that count at the same time would both serve the same one.
    -- Somebody who keeps the lock does not keep others from their jobs.
    begin
        perform set_config('lock_timeout', '2s', true);
        perform pg_advisory_xact_lock(hashtextextended('pgrag turns', 0));
    exception
        when lock_not_available then
            null;
    end;
    for chosen_id in
        select n.job_id
        from pgrag.jobs as w
        cross join lateral _pgrag.next_job(w.asked_by, null, w.job_id) as n
        where w.job_id = claim_job.wanted_id
        union all
        (
            select t.job_id
            from _pgrag.turns() as t
            where claim_job.wanted_id is null
                and not (
                    claim_job.is_lent
                    and exists (
                        select
                        from pgrag.jobs as r
                        where r.state = 'running'
                            and r.asked_by = t.asked_by
                            and r.worker = own_name
                    )
                )
            order by t.priority desc, t.running, t.last_at nulls first, t.run_at, t.job_id
        )
    loop
        -- Skipped, not waited for, if a session that cancels it keeps it locked.
        perform
        from pgrag.jobs as j
        where j.job_id = chosen_id and j.state = 'queued'
        for update skip locked;
        continue when not found;
        return query
        update pgrag.jobs as j
        set state = 'running',
            claim = j.claim + 1,
            attempts = j.attempts + 1,
            worker = own_name,
            leased_until = _pgrag.moment_in(coalesce(claim_job.lease, '0')),
            started_at = now(),
            finished_at = null,
            progress = null
        where j.job_id = chosen_id
        returning
            j.job_id, j.claim, j.library, j.version, j.arguments, j.confined, j.attempts,
            exists (select from pgrag.uploads as u where u.job_id = j.job_id);
        return;
    end loop;
end;
$$;

-- Removes a batch of old jobs, abandoned uploads, and uploads that failed a day ago.
create or replace function _pgrag.forget_jobs()
returns void
language plpgsql
volatile
as $$
begin
    delete from pgrag.jobs as j
    where j.job_id in (
        select o.job_id
        from pgrag.jobs as o
        where (o.finished_at < now() - interval '30 days' and o.state <> 'queued')
            or (o.state = 'uploading' and o.created_at < now() - interval '1 day')
        limit 200
        for update skip locked
    );
    perform _pgrag.drop_uploads(array(
        select j.job_id
        from pgrag.jobs as j
        where j.reserved_bytes > 0
            and j.state = 'failed'
            and j.finished_at < now() - interval '1 day'
    ));
end;
$$;

-- Takes jobs back whose lease has ended. The sessions of a silent worker may hold locks, so they
-- are ended.
create or replace function _pgrag.reclaim_jobs()
returns void
language plpgsql
volatile
as $$
declare
    lost pgrag.jobs;
begin
    for lost in
        select j.*
        from pgrag.jobs as j
        where j.state = 'running'
            and j.leased_until < now()
            and (j.confined or (select _pgrag.is_admin()) is not false)
        for update skip locked
    loop
        perform _pgrag.end_attempt(
            lost.job_id, lost.claim,
            format('The worker %s gave no sign until its lease ended.', lost.worker)
        );
        perform pg_terminate_backend(a.pid)
        from pg_stat_activity as a
        where a.application_name = format('pgrag job %s.%s', lost.job_id, lost.claim)
            and a.datname = current_database()
            and a.usename = current_user
            and a.pid <> pg_backend_pid();
    end loop;
end;
$$;
