-- A run of pgrag index holds the lock of its version, and shares that of its library: it would make
-- what is removed anew, with the rest of its pages only. Never waits; version null: every version.
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
        '@',
        lower(btrim(lock_out_indexing.library)),
        nullif(lower(btrim(lock_out_indexing.version)), '')
    );
    scope text := case when lock_out_indexing.version is null then 'library' else 'index' end;
begin
    if not pg_try_advisory_xact_lock(hashtextextended(format('pgrag %s %s', scope, name), 0)) then
        raise exception 'Another run is indexing %.', name
            using errcode = '55006',
                hint = 'Wait for its end, or interrupt it; nothing was removed.';
    end if;
end;
$$;
