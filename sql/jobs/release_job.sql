-- A worker that stops, and one that finds its version in use, gives a job back.
create or replace function pgrag.release_job(
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

comment on function pgrag.release_job is
'Gives a job back that was not done through no fault of its own, so that the attempt does not count;
it may be claimed again after the delay. Returns its state: queued, or cancelled if it was cancelled
meanwhile; null if the claim is no longer the last one.';
