-- Locks the library row, so writers are serialised. Every writer locks this row before any other;
-- another order could deadlock two writers. Returned settings include the defaults.
create or replace function _pgrag.lock_library(
    library text
)
returns pgrag.libraries
language plpgsql
volatile
as $$
declare
    -- Not in the query below: on an empty table it would never be evaluated, and so raise no error.
    owner_id bigint := _pgrag.library_id(lock_library.library);
    locked pgrag.libraries;
begin
    select l.*
    into locked
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;
    locked.settings := pgrag.effective_settings(locked.settings);
    return locked;
end;
$$;
