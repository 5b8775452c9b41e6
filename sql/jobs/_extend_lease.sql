-- The heartbeat of a worker: whether it still holds the job, has to cancel it, has lost it, or is
-- waited for. The last if the attempt has lasted a turn, and somebody with fewer running jobs has
-- one that could begin, or one of higher priority could: then the worker gives the job back.
create or replace function _pgrag.extend_lease(
    job_id bigint,
    claim integer,
    lease interval default '1 minute',
    progress jsonb default null,
    turn interval default null
)
returns text
language plpgsql
volatile
set search_path from current
as $$
declare
    own pgrag.jobs;
begin
    -- If a crash of the server loses a heartbeat, the next one follows.
    perform set_config('synchronous_commit', 'off', true);
    update pgrag.jobs as j
    set leased_until = _pgrag.moment_in(coalesce(extend_lease.lease, '0')),
        progress = coalesce(extend_lease.progress, j.progress)
    where j.job_id = extend_lease.job_id
        and j.claim = extend_lease.claim
        and j.state = 'running'
    returning j.* into own;
    return case
        when own.job_id is null then 'lost'
        when own.is_cancelling then 'cancelled'
        when own.started_at + extend_lease.turn <= now() and _pgrag.is_waited_for(own)
        then 'waited for'
        else 'held'
    end;
end;
$$;

create or replace function _pgrag.is_waited_for(
    job pgrag.jobs
)
returns boolean
language sql
stable
as $$
    select exists (
        select
        from _pgrag.turns(job.job_id) as t
        where t.priority > job.priority
            or (
                t.priority = job.priority
                and t.asked_by <> job.asked_by
                and t.running < (
                    select count(*)
                    from pgrag.jobs as o
                    where o.asked_by = job.asked_by and o.state = 'running'
                )
            )
    );
$$;
