-- Ends a job that has done its work; a schedule waits for its next time.
create or replace function _pgrag.finish_job(
    job_id bigint,
    claim integer,
    report jsonb default null
)
returns text
language plpgsql
volatile
set search_path from current
as $$
declare
    finished pgrag.jobs := _pgrag.claimed_job(finish_job.job_id, finish_job.claim);
    next_state text;
begin
    if finished.job_id is null then
        return null;
    end if;
    next_state := case
        when finished.every is null then 'succeeded'
        when finished.is_cancelling then 'cancelled'
        else 'queued'
    end;
    update pgrag.jobs as j
    set state = next_state,
        attempts = case when next_state = 'queued' then 0 else j.attempts end,
        run_at = case when next_state = 'queued' then now() + j.every else j.run_at end,
        report = finish_job.report,
        -- The last pages may have been written after the last beat.
        progress = coalesce(j.progress, '{}') || jsonb_strip_nulls(jsonb_build_object(
            'done', coalesce(j.progress -> 'total', finish_job.report -> 'pages'),
            'total', coalesce(j.progress -> 'total', finish_job.report -> 'pages'),
            'documents', finish_job.report -> 'documents'
        )),
        worker = null,
        leased_until = null,
        is_cancelling = false,
        finished_at = now()
    where j.job_id = finished.job_id;
    perform _pgrag.drop_uploads(array[finished.job_id]);
    perform pg_notify('pgrag_jobs', '');
    return next_state;
end;
$$;
