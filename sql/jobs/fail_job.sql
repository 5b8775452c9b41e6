-- Ends an attempt that failed; the next one waits longer than the last.
create or replace function pgrag.fail_job(
    job_id bigint,
    claim integer,
    reason text,
    final boolean default false
)
returns text
language plpgsql
volatile
set search_path from current
as $$
begin
    return _pgrag.end_attempt(
        _pgrag.claimed_job(fail_job.job_id, fail_job.claim),
        coalesce(fail_job.reason, 'No reason was given.'), fail_job.final
    );
end;
$$;

comment on function pgrag.fail_job is
'Ends an attempt that failed, and keeps the reason. Returns the state of the job: queued for another
attempt, after 10 seconds, 20, 40 and so on up to an hour; failed if it was the last attempt or the
failure is final, so that no repetition can help; for a schedule instead queued, for its next time;
cancelled if it was cancelled meanwhile; null if the claim is no longer the last one.';
