-- Jobs of what was removed would make it anew, a schedule again and again.
create or replace function _pgrag.cancel_jobs(
    library text,
    version text
)
returns void
language plpgsql
volatile
as $$
begin
    with cancelled as (
        update pgrag.jobs as j
        set state = 'cancelled', finished_at = now()
        where j.library = cancel_jobs.library
            and (cancel_jobs.version is null or j.version = cancel_jobs.version)
            and j.state = 'queued'
        returning j.job_id
    )
    delete from pgrag.uploads as u
    using cancelled as c
    where u.job_id = c.job_id;
    update pgrag.jobs as j
    set is_cancelling = true
    where j.library = cancel_jobs.library
        and (cancel_jobs.version is null or j.version = cancel_jobs.version)
        and j.state = 'running';
end;
$$;
