create or replace function pgrag.retry_job(
    job_id bigint,
    most_jobs integer default null
)
returns text
language plpgsql
volatile
set search_path from current
as $$
declare
    retried pgrag.jobs := _pgrag.job_of(retry_job.job_id);
begin
    if retried.state in ('uploading', 'running') then
        raise exception 'Job % is %, so it cannot be tried again.', retried.job_id, retried.state
            using errcode = 'PGR01', hint = 'Wait for its end, or cancel it.';
    elsif retried.arguments ->> 'source' is null and not exists (
        select from pgrag.uploads as u where u.job_id = retried.job_id
    ) then
        raise exception 'The upload of job % is no longer stored.', retried.job_id
            using errcode = 'PGR01', hint = 'Upload it again; that makes a new job.';
    elsif not (retried.confined or _pgrag.is_admin()) then
        raise exception 'Job % may read any folder, so only administrators try it again.',
            retried.job_id
            using errcode = '42501', hint = 'Make a job of your own: pgrag.create_job.';
    elsif retried.state <> 'queued' then
        perform _pgrag.require_room(retried.asked_by, retry_job.most_jobs);
    end if;
    update pgrag.jobs as j
    set state = 'queued', attempts = 0, run_at = now(), finished_at = null
    where j.job_id = retried.job_id;
    perform pg_notify('pgrag_jobs', '');
    return 'queued';
end;
$$;

comment on function pgrag.retry_job is
'Queues a job that has ended, or that waits for its time, with all its attempts anew; returns its
state. Earlier failures stay listed. most_jobs: as of pgrag.create_job, for who asked for the job.
Errors: PGR01 for a job that runs, or whose upload is gone,
42501 for one that may read any folder unless the caller is an administrator, PGR18, PGR20.';
