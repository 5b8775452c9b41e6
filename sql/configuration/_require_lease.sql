-- A worker whose lease has ended must not write beside the worker that now has its job: connections
-- of workers name job and claim in pgrag.lease, and every writer checks them here. The row stays
-- locked against another claim, not against the heartbeat, until the transaction ends.
create or replace function _pgrag.require_lease()
returns void
language plpgsql
volatile
as $$
declare
    lease constant text[] := string_to_array(current_setting('pgrag.lease', true), '.');
begin
    if cardinality(lease) = 2 then
        perform
        from pgrag.jobs as j
        where j.job_id = lease[1]::bigint
            and j.claim = lease[2]::integer
            and j.state = 'running'
        for key share;
        if not found then
            raise exception 'Job % is no longer this worker''s: its lease has ended.', lease[1]
                using errcode = 'PGR19', hint = 'The worker that has it now completes it.';
        end if;
    end if;
end;
$$;
