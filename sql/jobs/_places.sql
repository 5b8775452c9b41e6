-- Why queued jobs wait: their places among those of who asked for each, and running jobs of the
-- same version. All jobs of one asker are counted at once, because a list may have thousands.
create or replace function _pgrag.places(
    job_ids bigint[]
)
returns table (
    job_id bigint,
    place bigint,
    waits_for bigint
)
language sql
stable
set search_path from current
as $$
    with counted as (
        select
            j.job_id, j.library, j.version,
            row_number() over (
                partition by j.asked_by
                order by j.priority desc, j.run_at, j.job_id
            ) as place
        from pgrag.jobs as j
        where j.state = 'queued'
            and j.asked_by in (
                select w.asked_by
                from pgrag.jobs as w
                where w.job_id = any(places.job_ids) and w.state = 'queued'
            )
    )
    select c.job_id, c.place, r.job_id
    from counted as c
    left join pgrag.jobs as r
        on r.state = 'running' and r.library = c.library and r.version = c.version
    where c.job_id = any(places.job_ids);
$$;
