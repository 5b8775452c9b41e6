-- Workers skip what others have locked, so none waits for another. Only the clock of the database
-- decides whether a job is due and a lease has ended.
create or replace function _pgrag.claim_job(
    worker text,
    lease interval default '1 minute',
    wanted_id bigint default null
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
declare
    chosen_id bigint;
begin
    perform _pgrag.reclaim_jobs();
    if random() < 0.01 then
        -- A batch of old jobs, abandoned uploads, and uploads that failed a day ago.
        delete from pgrag.jobs as j
        where j.job_id in (
            select o.job_id
            from pgrag.jobs as o
            where (o.finished_at < now() - interval '30 days' and o.state <> 'queued')
                or (o.state = 'uploading' and o.created_at < now() - interval '1 day')
            limit 200
            for update skip locked
        );
        delete from pgrag.uploads as u
        using pgrag.jobs as j
        where j.job_id = u.job_id
            and j.state = 'failed'
            and j.finished_at < now() - interval '1 day';
    end if;
    loop
        select j.job_id
        into chosen_id
        from pgrag.jobs as j
        where j.state = 'queued' and j.run_at <= now()
            -- Only administrators run what reads any folder.
            and (j.confined or (select _pgrag.is_admin()) is not false)
            and (claim_job.wanted_id is null or j.job_id = claim_job.wanted_id)
            -- "not in" is hashed whatever the statistics say: thousands may wait for one version.
            and (j.library, j.version) not in (
                select r.library, r.version
                from pgrag.jobs as r
                where r.state = 'running'
            )
        order by j.priority desc, j.run_at, j.job_id
        limit 1
        for update skip locked;
        if not found then
            return;
        end if;
        begin
            return query
            update pgrag.jobs as j
            set state = 'running',
                claim = j.claim + 1,
                attempts = j.attempts + 1,
                worker = left(claim_job.worker, 200),
                leased_until = _pgrag.moment_in(claim_job.lease),
                started_at = now(),
                finished_at = null,
                progress = null
            where j.job_id = chosen_id
            returning
                j.job_id, j.claim, j.library, j.version, j.arguments, j.confined, j.attempts,
                exists (select from pgrag.uploads as u where u.job_id = j.job_id);
            return;
        exception
            when unique_violation then
                -- Another worker has just begun a job of this version.
                null;
        end;
    end loop;
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
            -- No lease is longer than a day, unless the clock was set back since.
            and j.leased_until not between now() and now() + interval '1 day'
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
