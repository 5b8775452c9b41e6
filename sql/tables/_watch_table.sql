-- Three triggers, because one with a transition table is for one event; and one for truncate. A
-- change that names a partition fires only the triggers of the partition.
create or replace function _pgrag.watch_table(
    library_id bigint,
    source regclass,
    columns jsonb
)
returns void
language plpgsql
volatile
as $$
declare
    watch record;
begin
    for watch in
        with recursive part (source) as (
            select watch_table.source::oid
            union
            select i.inhrelid from pg_inherits as i join part as p on p.source = i.inhparent
        )
        select p.source::regclass as source, e.event, e.tables
        from part as p
        join pg_class as c on c.oid = p.source and c.relkind in ('r', 'p')
        cross join (
            values
                ('insert', 'referencing new table as changed'),
                ('update', 'referencing old table as before new table as changed'),
                ('delete', 'referencing old table as changed'),
                ('truncate', '')
        ) as e (event, tables)
    loop
        execute format(
            'create trigger %I after %s on %s %s for each statement'
            ' execute function _pgrag.note_changed_rows(%L, %L, %L)',
            format('pgrag_%s_%s', library_id, watch.event), watch.event, watch.source, watch.tables,
            library_id, array(select jsonb_array_elements_text(columns -> 'id')),
            array(
                select distinct n.name #>> '{}'
                from jsonb_path_query(columns, '$.*[*]') as n (name)
                order by 1
            )
        );
    end loop;
end;
$$;
