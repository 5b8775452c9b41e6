-- Locks the library row, so writers are serialised. Every writer locks this row before any other;
-- another order could deadlock two writers. is_shared keeps only the library and the index that has
-- its vectors: writers of pages do not wait then. Returned settings include the defaults. Raises
-- PGR02, also if the library is removed while this call waits, and PGR19 for a worker without its
-- lease.
create or replace function _pgrag.lock_library(
    library text,
    is_shared boolean default false
)
returns pgrag.libraries
language plpgsql
volatile
as $$
declare
    locked pgrag.libraries;
begin
    perform _pgrag.require_lease();
    loop
        -- Not in the query below: on an empty table it would never be evaluated.
        locked.library_id := _pgrag.library_id(lock_library.library);
        if is_shared then
            select l.*
            into locked
            from pgrag.libraries as l
            where l.library_id = locked.library_id
            for key share;
        else
            select l.*
            into locked
            from pgrag.libraries as l
            where l.library_id = locked.library_id
            for no key update;
        end if;
        exit when found;
    end loop;
    locked.settings := _pgrag.effective_settings(locked.settings);
    return locked;
end;
$$;
