-- A worker that stops, and one that finds its version in use, gives a job back.
create or replace function _pgrag.release_job(
    job_id bigint,
    claim integer,
    delay interval default '0'
)
returns text
language plpgsql
volatile
set search_path from current
as $$
begin
    return _pgrag.end_attempt(
        _pgrag.claimed_job(release_job.job_id, release_job.claim), null, false, release_job.delay
    );
end;
$$;
