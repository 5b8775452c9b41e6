-- The trigger of an indexed table: notes the keys of rows whose indexed columns have changed, by
-- one statement for any number of rows, in the transaction that changes them. It never refuses a
-- change: if columns are missing, all rows are to be compared, and that names the fault. Arguments:
-- library, id columns, all indexed columns. Transition tables are named before and changed. Times
-- are written as read_rows writes them, and nobody's functions are called, whatever the session of
-- the application has set.
create or replace function _pgrag.note_changed_rows()
returns trigger
language plpgsql
volatile
set search_path from current
set datestyle = 'ISO, YMD'
set timezone = 'UTC'
as $$
declare
    library_id constant bigint := tg_argv[0];
    id constant text[] := tg_argv[1];
    columns constant text[] := tg_argv[2];
    -- Key and contents of each row of a transition table.
    listed constant text := 'select %s as key, row(%s)::text as content from %I as t';
    key constant text := _pgrag.key_expression('t', id);
    contents text;
begin
    if tg_op = 'TRUNCATE' or exists (
        select
        from unnest(columns) as c (name)
        where not exists (
            select
            from pg_attribute as a
            where a.attrelid = tg_relid and a.attname = c.name and not a.attisdropped
        )
    ) then
        insert into pgrag.changed_rows (library_id, row_key) values (library_id, null);
        return null;
    end if;
    if tg_op = 'UPDATE' then
        contents := (
            select string_agg(format('t.%I', c.name), ', ') from unnest(columns) as c (name)
        );
        execute format(
            'insert into pgrag.changed_rows (library_id, row_key)'
            ' select distinct $1, k.key'
            ' from (%s) as b full join (%s) as c on c.key = b.key and c.content = b.content'
            ' cross join lateral (values (b.key), (c.key)) as k (key)'
            ' where (b.key is null or c.key is null) and k.key is not null',
            format(listed, key, contents, 'before'), format(listed, key, contents, 'changed')
        )
        using library_id;
    else
        execute format(
            'insert into pgrag.changed_rows (library_id, row_key)'
            ' select $1, k.key from (select %s as key from changed as t) as k'
            ' where k.key is not null',
            key
        )
        using library_id;
    end if;
    return null;
end;
$$;
