-- Ends a request to a service: its lease (see admit) no longer counts, and the audit keeps it.
-- request: {"key_id", "lease", "entry"}, with the entry of the audit. It may be the end of the
-- transaction of a search, whose hits must not be lost by an error here. False: on a replica, where
-- nothing can be ended.
create or replace function _pgrag.end_request(
    request jsonb
)
returns boolean
language plpgsql
volatile
as $$
declare
    entry jsonb := request -> 'entry';
begin
    if current_setting('transaction_read_only')::boolean then
        return false;
    end if;
    -- Nothing of this must survive a power failure before the caller has its answer.
    perform set_config('synchronous_commit', 'off', true);
    begin
        update pgrag.key_usage as u
        set running = array_remove(u.running, (request ->> 'lease')::timestamptz)
        where u.key_id = (request ->> 'key_id')::bigint and request ->> 'lease' is not null;
    exception
        when others then
            raise warning 'The lease of % goes on to its end: %', entry ->> 'action', sqlerrm;
    end;
    begin
        -- The search had its id before it was known whether it would be recorded.
        if not exists (
            select from pgrag.searches as s where s.search_id = (entry ->> 'search_id')::uuid
        ) then
            entry := entry - 'search_id';
        end if;
        perform _pgrag.write_audit(entry);
        -- Callers with keys record searches by roles that may not delete them.
        perform _pgrag.forget_expired_searches();
    exception
        when others then
            raise warning '% is not in the audit: %', entry ->> 'action', sqlerrm;
    end;
    return true;
end;
$$;
