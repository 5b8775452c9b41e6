-- A running pgrag index shares the locks of its version and library, and would write removed pages
-- again. Only removals lock exclusively, so a shared lock that fails means another removal. Never
-- waits. version null: every version.
create or replace function _pgrag.lock_out_indexing(
    library text,
    version text
)
returns void
language plpgsql
volatile
as $$
declare
    name text := concat_ws(
        '@', lower(btrim(lock_out_indexing.library)),
        nullif(lower(btrim(lock_out_indexing.version)), '')
    );
    scope text := case when lock_out_indexing.version is null then 'library' else 'version' end;
    lock_id bigint := hashtextextended(format('pgrag %s %s', scope, name), 0);
begin
    if pg_try_advisory_xact_lock(lock_id) then
        return;
    elsif pg_try_advisory_xact_lock_shared(lock_id) then
        raise exception 'Another run is indexing %.', name
            using errcode = '55006',
                hint = 'Wait for its end, or interrupt it; nothing was removed.';
    end if;
    raise exception 'Another session is removing %.', name
        using errcode = '55006', hint = 'Wait for its end; this call removed nothing.';
end;
$$;
