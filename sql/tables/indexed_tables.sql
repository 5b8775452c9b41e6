create or replace function pgrag.indexed_tables()
returns table (
    library text,
    source text,
    columns jsonb,
    format text,
    url text,
    watched boolean,
    pages bigint,
    waiting bigint
)
language sql
stable
parallel safe
as $$
    select
        l.name,
        (select t.source::text from pg_catalog.pg_class as c where c.oid = t.source),
        t.columns, t.format, t.url, t.watched,
        (
            select coalesce(sum(v.page_count), 0)::bigint
            from pgrag.versions as v
            where v.library_id = t.library_id
        ),
        (
            select case when count(*) = count(n.row_key) then count(*) end
            from pgrag.changed_rows as n
            where n.library_id = t.library_id
        )
    from pgrag.indexed_tables as t
    join pgrag.libraries as l on l.library_id = t.library_id
    order by l.name;
$$;

comment on function pgrag.indexed_tables is
'The tables of the user whose rows are pages (see index_table), by library: source (null: dropped),
the columns by what they are, format, url, whether triggers note changes, the number of pages, and
of notes that pgrag.refresh_table has yet to read; null: it will compare all rows.';
