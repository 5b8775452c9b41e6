create or replace function pgrag.index_table(
    source text,
    text text,
    title text default null,
    id text default null,
    library text default null,
    format text default 'text',
    url text default null,
    type text default null,
    tags text default null,
    language text default null,
    created text default null,
    modified text default null,
    metadata text default null,
    watch boolean default true
)
returns text
language plpgsql
volatile
set search_path from current
as $$
declare
    relation constant regclass := _pgrag.table_named(index_table.source);
    kind constant "char" := (select c.relkind from pg_class as c where c.oid = relation);
    library_name constant text := lower(btrim(coalesce(
        index_table.library, (select c.relname from pg_class as c where c.oid = relation)
    )));
    can_watch constant boolean := coalesce(index_table.watch, true) and kind in ('r', 'p');
    columns constant jsonb := _pgrag.chosen_columns(
        relation,
        jsonb_build_object(
            'id', index_table.id, 'title', index_table.title, 'text', index_table.text,
            'type', index_table.type, 'tags', index_table.tags, 'created', index_table.created,
            'modified', index_table.modified, 'metadata', index_table.metadata,
            'url', case when index_table.url !~ '[{/]' then index_table.url end,
            'language', case
                when _pgrag.has_column(relation, index_table.language)
                    or _pgrag.language_code(index_table.language) is null
                then index_table.language
            end
        )
    );
    location constant text := 'table ' || relation;
    is_of_table boolean;
    target record;
begin
    perform _pgrag.check_choice(
        'format', coalesce(index_table.format, ''), '{text, markdown, html}'
    );
    perform _pgrag.check_source(relation, kind, columns, can_watch);
    -- Also after a restore, which brings the pages, but not what is known of the table.
    is_of_table := exists (
        select
        from pgrag.libraries as l
        join pgrag.versions as v on v.library_id = l.library_id
        where l.name = library_name and v.source ->> 'location' = location
    );
    select o.*
    into target
    from pgrag.open_version(
        library_name, '',
        case when not columns ? 'language' then index_table.language end,
        jsonb_build_object('location', location)
    ) as o;
    if not is_of_table and exists (
        select
        from pgrag.pages as p
        where p.library_id = target.library_id
            and not exists (
                select
                from pgrag.indexed_tables as t
                where t.library_id = target.library_id
                    and (
                        t.source = relation
                        or not exists (select from pg_class as c where c.oid = t.source)
                    )
            )
    ) then
        raise exception 'The library % has other pages than rows of %.',
            quote_literal(library_name), relation
            using errcode = 'PGR01',
                hint = 'Give a name of its own by library => …, or remove the library first.';
    end if;
    insert into pgrag.indexed_tables as t (
        library_id, source, indexed_by, columns, format, url, watched
    )
    values (
        target.library_id, relation, current_user, columns, index_table.format,
        case when index_table.url ~ '[{/]' then index_table.url end, can_watch
    )
    on conflict (library_id) do update
    set (source, indexed_by, columns, format, url, watched) = (
        excluded.source, excluded.indexed_by, excluded.columns, excluded.format, excluded.url,
        excluded.watched
    );
    perform _pgrag.unwatch_table(target.library_id);
    if can_watch then
        perform _pgrag.watch_table(target.library_id, relation, columns);
    end if;
    insert into pgrag.changed_rows (library_id, row_key) values (target.library_id, null);
    return library_name;
end;
$$;

comment on function pgrag.index_table is
'Keeps a table searchable: each row becomes a page of a library, whose name it returns (default:
that of the table). It reads no rows: pgrag.refresh_table does, and later those that have changed,
which triggers note in the transaction that changes them. Call it again with other columns to change
what is searched.
source: a table, a partitioned table, a view, a materialized view or a foreign table, named as in
SQL: public.tickets, "My Shop"."Orders"; the schema may be left out if only one has it. Only tables
have triggers (watch => false: none); of the others each refresh compares all rows.
text, id, metadata: columns, separated by commas; the others are one column each. A name is taken
as it is written if there is such a column, else as in SQL: "Order No" is quoted.
id: default: the primary key. A key of several columns is in hits as by pgrag.row_key.
title: default: the beginning of the text. format: text, markdown (cut at headings) or html.
url: a column, or an address with {key} for the key, such as https://desk.example/t/{key}.
tags: an array, or a text with commas. language: a column, or the language of all rows.
metadata: what filters see as front matter, with the types that the columns have; * is all others.
Rights: those of the caller, who reads every column named here, and makes triggers. Whoever may
search the library sees all rows, whatever row-level security says of the table.
Errors: PGR01, PGR02; 42501.';

-- What has no rows, no key, or a key that several rows may have, is refused.
create or replace function _pgrag.check_source(
    source regclass,
    kind "char",
    columns jsonb,
    watched boolean
)
returns void
language plpgsql
stable
parallel safe
as $$
declare
    missing constant text := case
        when exists (
            select
            from jsonb_path_query(columns, '$.*[*]') as n (name)
            where not has_column_privilege(source, n.name #>> '{}', 'select')
        ) then 'select'
        when watched and not has_table_privilege(source, 'trigger') then 'trigger'
    end;
begin
    if kind not in ('r', 'p', 'v', 'm', 'f') then
        raise exception '% is no table.', source
            using errcode = 'PGR01', hint = 'Give a table, a view or a foreign table.';
    elsif (select c.relpersistence from pg_class as c where c.oid = source) = 't' then
        raise exception '% is a temporary table, which other sessions cannot read.', source
            using errcode = 'PGR01', hint = 'Give a table that stays.';
    elsif missing is not null then
        raise exception '% may not % %.',
            current_user, case missing when 'select' then 'read' else 'make triggers of' end, source
            using errcode = '42501',
                hint = format(
                    'Ask its owner: grant %s on %s to %I.', missing, source, current_user
                );
    elsif not columns ? 'id' then
        raise exception '% has no primary key.', source
            using errcode = 'PGR01',
                hint = 'Name the columns that tell its rows apart: id => ''…''.';
    elsif kind in ('r', 'p') and not exists (
        select
        from pg_index as i
        where i.indrelid = source
            and i.indisunique
            and i.indisvalid
            and i.indpred is null
            and 0 <> all (i.indkey::smallint[])
            and not exists (
                select
                from unnest((i.indkey::smallint[])[: i.indnkeyatts - 1]) as k (attnum)
                join pg_attribute as a on a.attrelid = source and a.attnum = k.attnum
                where not columns -> 'id' ? a.attname
            )
    ) then
        raise exception 'Several rows of % may have the same %.', source, columns -> 'id'
            using errcode = 'PGR01',
                hint = 'id must have the columns of the primary key or of another unique index.';
    end if;
end;
$$;
