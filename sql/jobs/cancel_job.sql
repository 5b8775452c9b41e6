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
    if cancelled.state = 'running' then
        update pgrag.jobs as j set is_cancelling = true where j.job_id = cancelled.job_id;
    elsif cancelled.state in ('queued', 'uploading') then
        update pgrag.jobs as j
        set state = 'cancelled', finished_at = now()
        where j.job_id = cancelled.job_id
        returning j.* into cancelled;
        delete from pgrag.uploads as u where u.job_id = cancelled.job_id;
    end if;
    perform pg_notify('pgrag_jobs', '');
    return cancelled.state;
end;
$$;

comment on function pgrag.cancel_job is
'Cancels a job, with its schedule, and returns its state: cancelled; running, if its worker will end
it within seconds; what it has written stays. A job that has ended stays as it is. Errors: PGR18.';
