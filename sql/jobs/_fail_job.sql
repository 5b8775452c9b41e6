-- Ends an attempt that failed; the next one waits longer than the last.
create or replace function _pgrag.fail_job(
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
