-- The trigger of an indexed table: notes the keys of rows whose indexed columns have changed, by
-- one statement for any number of rows, in the transaction that changes them. It never refuses a
-- change: if columns are missing, all rows are to be compared, and that names the fault. Arguments:
-- library, id columns, all indexed columns. Transition tables are named before and changed. Values
-- are written as read_rows writes them, and nobody's functions are called, whatever the session of
-- the application has set.
create or replace function _pgrag.note_changed_rows()
returns trigger
language plpgsql
volatile
set search_path from current
set datestyle = 'ISO, YMD'
set timezone = 'UTC'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set extra_float_digits = 1
as $$
declare
    library_id constant bigint := tg_argv[0];
    id constant text[] := tg_argv[1];
    columns constant text[] := tg_argv[2];
    -- Key and contents of each row of a transition table. A key of columns with different
    -- collations has none, and could not be compared.
    listed constant text :=
        'select (%s) collate "C" as key, row(%s)::text collate "C" as content from %I as t';
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
        -- A transition table has no virtual columns: any column may be what they are made of.
        contents := (
            select string_agg(format('t.%I', a.attname), ', ')
            from pg_attribute as a
            where a.attrelid = tg_relid
                and a.attnum > 0
                and not a.attisdropped
                and a.attgenerated <> 'v'
                and (
                    a.attname = any (columns)
                    or exists (
                        select
                        from pg_attribute as v
                        where v.attrelid = tg_relid
                            and v.attname = any (columns)
                            and v.attgenerated = 'v'
                    )
                )
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
