-- Ends what _pgrag.admit began: the request no longer runs, and the audit says what it was.
-- request: {"key_id", "lease", "entry"}, with the entry of the audit. search_id: of the search that
-- was recorded for it.
create or replace function _pgrag.end_request(
    request jsonb,
    search_id uuid
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
    begin
        if request ->> 'lease' is not null then
            perform _pgrag.return_lease(
                (request ->> 'key_id')::bigint, (request ->> 'lease')::timestamptz
            );
        end if;
        perform _pgrag.write_audit(
            (request -> 'entry')
                || jsonb_strip_nulls(jsonb_build_object('search_id', end_request.search_id))
        );
    exception
        when others then
            raise warning '% is not in the audit: %', request #>> '{entry,action}', sqlerrm;
    end;
end;
$$;

-- The same, if the request made one search that is recorded with its end: `search` has the
-- arguments of pgrag.record_search by name. Returns the search_id, null if it was not recorded.
create or replace function _pgrag.record_and_end_request(
    request jsonb,
    search jsonb
)
returns uuid
language plpgsql
volatile
set search_path from current
as $$
declare
    recorded_id uuid;
begin
    -- The service records for itself, in the name of the caller.
    perform set_config('pgrag.library_ids', '*', true),
        set_config('pgrag.caller', request #>> '{entry,caller}', true);
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
    -- After the record: meanwhile no other request of the key has to wait for the row of its usage.
    perform _pgrag.end_request(request, recorded_id);
    return recorded_id;
end;
$$;
