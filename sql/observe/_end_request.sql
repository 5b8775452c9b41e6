-- Ends a request to a service: its lease (see admit) no longer counts, and the audit keeps it.
-- request: {"key_id", "lease", "entry"}, with the entry of the audit.
create or replace function _pgrag.end_request(
    request jsonb
)
returns void
language plpgsql
volatile
as $$
begin
    if current_setting('transaction_read_only')::boolean then
        return;
    end if;
    -- Nothing of this must survive a power failure before the caller has its answer.
    perform set_config('synchronous_commit', 'off', true);
    update pgrag.key_usage as u
    set running = array_remove(u.running, (request ->> 'lease')::timestamptz)
    where u.key_id = (request ->> 'key_id')::bigint and request ->> 'lease' is not null;
    begin
        perform _pgrag.write_audit(request -> 'entry');
        -- Callers with keys record searches by roles that may not delete them.
        perform _pgrag.forget_expired_searches();
    exception
        when others then
            raise warning '% is not in the audit: %', request #>> '{entry,action}', sqlerrm;
    end;
end;
$$;
