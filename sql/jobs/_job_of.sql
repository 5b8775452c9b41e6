-- The job of this id, locked; an unknown one is an error. A job of a library that the caller cannot
-- see is unknown.
create or replace function _pgrag.job_of(
    job_id bigint
)
returns pgrag.jobs
language plpgsql
volatile
as $$
declare
    locked pgrag.jobs;
begin
    select j.*
    into locked
    from pgrag.jobs as j
    where j.job_id = job_of.job_id
    for no key update;
    if not found then
        perform _pgrag.refuse_unknown_job(job_of.job_id);
    end if;
    return locked;
end;
$$;

create or replace function _pgrag.refuse_unknown_job(
    job_id bigint
)
returns void
language plpgsql
immutable
parallel safe
as $$
begin
    raise exception 'There is no job %.', coalesce(job_id::text, 'null')
        using errcode = 'PGR18',
            hint = '`pgrag jobs list` and pgrag.jobs() list them; those that ended are kept for 30'
                ' days.';
end;
$$;
