-- Ends an attempt that did not succeed. With a reason it counts as a failure, and the next attempt
-- waits longer than the last. Without one the job is given back: by a worker that stops, that finds
-- the version in use, or after the job has had its turn. With a delay it is due after that, else
-- it keeps its place among the jobs of who asked for it.
create or replace function _pgrag.end_attempt(
    job_id bigint,
    claim integer,
    reason text default null,
    final boolean default false,
    delay interval default null
)
returns text
language plpgsql
volatile
set search_path from current
as $$
declare
    job constant pgrag.jobs := _pgrag.claimed_job(end_attempt.job_id, end_attempt.claim);
    made constant integer := job.attempts - (end_attempt.reason is null)::integer;
    is_over constant boolean := end_attempt.reason is not null
        and (end_attempt.final or made >= job.max_attempts);
    next_state constant text := case
        when job.is_cancelling then 'cancelled'
        when is_over and job.every is null then 'failed'
        else 'queued'
    end;
begin
    -- Another claim has the job, or it has ended.
    if job.job_id is null then
        return null;
    end if;
    update pgrag.jobs as j
    set state = next_state,
        -- A schedule survives a failure: its next run begins with no attempts.
        attempts = case when is_over and next_state = 'queued' then 0 else made end,
        run_at = case
            when is_over then now() + coalesce(job.every, '0')
            when end_attempt.reason is null
            then coalesce(_pgrag.moment_in(end_attempt.delay), j.run_at)
            else now()
                + least(interval '10 seconds' * 2 ^ least(made - 1, 20), interval '1 hour')
        end,
        failures = case
            when end_attempt.reason is null then j.failures
            -- The latest 20 are kept.
            else j.failures - case when jsonb_array_length(j.failures) < 20 then 20 else 0 end
                || jsonb_build_object(
                    'at', now(), 'attempt', made, 'worker', job.worker,
                    'reason', left(end_attempt.reason, 4000)
                )
        end,
        worker = null,
        leased_until = null,
        is_cancelling = false,
        finished_at = case when is_over or next_state = 'cancelled' then now() end
    where j.job_id = job.job_id;
    if next_state = 'cancelled' then
        perform _pgrag.drop_uploads(array[job.job_id]);
    end if;
    perform pg_notify('pgrag_jobs', '');
    return next_state;
end;
$$;

-- The job if this claim still has it, locked; null after another claim, or after its end.
create or replace function _pgrag.claimed_job(
    job_id bigint,
    claim integer
)
returns pgrag.jobs
language sql
volatile
as $$
    select j.*
    from pgrag.jobs as j
    where j.job_id = claimed_job.job_id
        and j.claim = claimed_job.claim
        and j.state = 'running'
    for no key update;
$$;

-- The time after this interval, within a day; null for null.
create or replace function _pgrag.moment_in(
    length interval
)
returns timestamptz
language sql
stable
strict
parallel safe
as $$
    select pg_catalog.now() + least(greatest(moment_in.length, interval '0'), interval '1 day');
$$;
