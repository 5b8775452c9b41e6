-- Without this, half an upload could be indexed.
create or replace function _pgrag.submit_upload(
    job_id bigint
)
returns text
language plpgsql
volatile
set search_path from current
as $$
declare
    uploading pgrag.jobs := _pgrag.job_of(submit_upload.job_id);
begin
    if uploading.state <> 'uploading' or not exists (
        select from pgrag.uploads as u where u.job_id = uploading.job_id and u.file >= 0
    ) then
        raise exception 'Job % has no upload to be indexed.', uploading.job_id
            using errcode = 'PGR01',
                hint = 'Store its files by _pgrag.add_upload_piece first, then submit them once.';
    end if;
    update pgrag.jobs as j
    set state = 'queued',
        run_at = greatest(j.run_at, now()),
        reserved_bytes = j.uploaded_bytes
    where j.job_id = uploading.job_id;
    perform pg_notify('pgrag_jobs', '');
    return 'queued';
end;
$$;

-- Removes the job of an upload that was not completed.
create or replace function _pgrag.discard_upload(
    job_id bigint
)
returns void
language sql
volatile
set search_path from current
as $$
    delete from pgrag.jobs as j
    where j.job_id = discard_upload.job_id and j.state = 'uploading';
$$;
