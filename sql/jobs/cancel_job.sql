-- A running job is cancelled by its worker, at the next heartbeat.
create or replace function pgrag.cancel_job(
    job_id bigint
)
returns text
language plpgsql
volatile
set search_path from current
as $$
declare
    cancelled pgrag.jobs := _pgrag.job_of(cancel_job.job_id);
begin
    perform _pgrag.cancel_jobs(array[cancelled.job_id]);
    if cancelled.state = 'failed' then
        perform _pgrag.drop_uploads(array[cancelled.job_id]);
    end if;
    perform pg_notify('pgrag_jobs', '');
    return case
        when cancelled.state in ('uploading', 'queued') then 'cancelled'
        else cancelled.state
    end;
end;
$$;

comment on function pgrag.cancel_job is
'Cancels a job, with its schedule, and returns its state: cancelled, or running if its worker will
end it within seconds. What it has written stays. A job that has ended does not change, but the
upload of a failed one is removed. Errors: PGR18.';
