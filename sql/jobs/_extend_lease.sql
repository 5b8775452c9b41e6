-- The heartbeat of a worker.
create or replace function _pgrag.extend_lease(
    job_id bigint,
    claim integer,
    lease interval default '1 minute',
    progress jsonb default null
)
returns text
language plpgsql
volatile
set search_path from current
as $$
declare
    is_cancelled boolean;
begin
    -- If a crash of the server loses a heartbeat, the next one follows.
    perform set_config('synchronous_commit', 'off', true);
    update pgrag.jobs as j
    set leased_until = _pgrag.moment_in(extend_lease.lease),
        progress = coalesce(extend_lease.progress, j.progress)
    where j.job_id = extend_lease.job_id
        and j.claim = extend_lease.claim
        and j.state = 'running'
    returning j.is_cancelling into is_cancelled;
    return case
        when is_cancelled is null then 'lost'
        when is_cancelled then 'cancelled'
        else 'held'
    end;
end;
$$;
