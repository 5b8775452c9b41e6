-- Ends jobs whose library, version or key is gone; their workers end those that run.
create or replace function _pgrag.cancel_jobs(
    job_ids bigint[]
)
returns bigint
language plpgsql
volatile
as $$
declare
    waiting bigint[];
    running bigint;
begin
    with cancelled as (
        update pgrag.jobs as j
        set state = 'cancelled', finished_at = now()
        where j.job_id = any(cancel_jobs.job_ids) and j.state in ('uploading', 'queued')
        returning j.job_id
    )
    select array_agg(c.job_id) into waiting from cancelled as c;
    perform _pgrag.drop_uploads(waiting);
    update pgrag.jobs as j
    set is_cancelling = true
    where j.job_id = any(cancel_jobs.job_ids) and j.state = 'running';
    get diagnostics running = row_count;
    return coalesce(cardinality(waiting), 0) + running;
end;
$$;

-- Removes what is stored of the uploads of these jobs, so that it no longer counts.
create or replace function _pgrag.drop_uploads(
    job_ids bigint[]
)
returns void
language plpgsql
volatile
as $$
begin
    delete from pgrag.uploads as u where u.job_id = any(drop_uploads.job_ids);
    update pgrag.jobs as j
    set reserved_bytes = 0, uploaded_bytes = 0
    where j.job_id = any(drop_uploads.job_ids) and j.reserved_bytes > 0;
end;
$$;
