-- Ends what _pgrag.admit began: the request no longer runs, and the audit says what it was. If it
-- was one search, that is recorded in the same transaction: the arguments of record_search by name.
-- Returns the search_id of the record, null without one.
create or replace function _pgrag.finish_request(
    key_id bigint,
    lease timestamptz,
    entry jsonb,
    search jsonb default null
)
returns uuid
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    recorded_id uuid;
begin
    if current_setting('transaction_read_only')::boolean then
        return null;
    end if;
    -- Nothing of this must survive a power failure before the caller has its answer.
    perform set_config('synchronous_commit', 'off', true);
    if finish_request.search is not null then
        -- The service records for itself, in the name of the caller.
        perform set_config('pgrag.library_ids', '*', true),
            set_config('pgrag.caller', entry ->> 'caller', true);
        recorded_id := pgrag.record_search(
            query => search ->> 'query',
            hits => search -> 'hits',
            client => search ->> 'client',
            library => search ->> 'library',
            version => search ->> 'version',
            parameters => search -> 'parameters',
            timings => nullif(search -> 'timings', 'null'),
            duration_ms => (search -> 'duration_ms')::double precision
        );
        entry := entry || jsonb_build_object('search_id', recorded_id);
    end if;
    -- After the record: meanwhile no other request of the key has to wait for this row.
    if finish_request.lease is not null then
        update pgrag.key_usage as u
        set running = array_remove(u.running, finish_request.lease)
        where u.key_id = finish_request.key_id;
    end if;
    perform _pgrag.write_audit(entry);
    return recorded_id;
end;
$$;
