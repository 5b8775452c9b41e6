-- Ends what _pgrag.admit began: the request no longer runs, and the audit says what it was.
create or replace function _pgrag.finish_request(
    key_id bigint,
    lease timestamptz,
    entry jsonb
)
returns void
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    if current_setting('transaction_read_only')::boolean then
        return;
    end if;
    -- Nothing of this must survive a power failure before the caller has its answer.
    perform set_config('synchronous_commit', 'off', true);
    if finish_request.lease is not null then
        update pgrag.key_usage as u
        set running = array_remove(u.running, finish_request.lease)
        where u.key_id = finish_request.key_id;
    end if;
    perform _pgrag.write_audit(finish_request.entry);
end;
$$;
