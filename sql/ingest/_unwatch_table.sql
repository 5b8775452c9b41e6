-- Drops the triggers of the table whose rows are the library, from it and its partitions, and its
-- notes. Only the owner of a table may: else the triggers stay, and the notice says who can.
create or replace function _pgrag.unwatch_table(
    library_id bigint
)
returns void
language plpgsql
volatile
as $$
declare
    watch record;
begin
    for watch in
        select t.tgname, t.tgrelid::regclass as source, c.relowner::regrole as owner
        from pg_trigger as t
        join pg_class as c on c.oid = t.tgrelid
        where t.tgfoid = to_regproc('_pgrag.note_changed_rows')
            and t.tgname like format('pgrag\_%s\_%%', unwatch_table.library_id)
    loop
        begin
            execute format('drop trigger %I on %s', watch.tgname, watch.source);
        exception
            when insufficient_privilege then
                raise notice 'The trigger % of % stays: only % can drop it.',
                    watch.tgname, watch.source, watch.owner;
        end;
    end loop;
    delete from pgrag.changed_rows as c where c.library_id = unwatch_table.library_id;
end;
$$;
