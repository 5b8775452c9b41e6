-- Ends jobs whose library, version or key is gone; their workers end those that run.
create or replace function _pgrag.cancel_jobs(
    job_ids bigint[]
)
returns bigint
language plpgsql
volatile
as $$
declare
    waiting bigint;
    running bigint;
begin
    with cancelled as (
        update pgrag.jobs as j
        set state = 'cancelled', finished_at = now()
        where j.job_id = any(cancel_jobs.job_ids) and j.state in ('uploading', 'queued')
        returning j.job_id
    ),
    emptied as (
        delete from pgrag.uploads as u
        using cancelled as c
        where u.job_id = c.job_id
    )
    select count(*) into waiting from cancelled as c;
    update pgrag.jobs as j
    set is_cancelling = true
    where j.job_id = any(cancel_jobs.job_ids) and j.state = 'running';
    get diagnostics running = row_count;
    return waiting + running;
end;
$$;
