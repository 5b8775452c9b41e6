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
    can_watch constant boolean := index_table.watch and kind in ('r', 'p');
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
    target record;
begin
    perform _pgrag.check_choice(
        'format', coalesce(index_table.format, ''), '{text, markdown, html}'
    );
    perform _pgrag.check_source(relation, kind, columns, can_watch);
    select o.*
    into target
    from pgrag.open_version(
        library_name, '',
        case when not columns ? 'language' then index_table.language end,
        jsonb_build_object('location', 'table ' || relation)
    ) as o;
    if exists (
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
    insert into pgrag.indexed_tables as t (library_id, source, columns, format, url, watched)
    values (
        target.library_id, relation, columns, index_table.format,
        case when index_table.url ~ '[{/]' then index_table.url end, can_watch
    )
    on conflict (library_id) do update
    set (source, columns, format, url, watched) = (
        excluded.source, excluded.columns, excluded.format, excluded.url, excluded.watched
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
'Keeps a table searchable: each row becomes a page of a library, whose name it returns (default: that
of the table). It reads no rows: pgrag.refresh_table does, and later those that have changed, which
triggers note in the transaction that changes them. Call it again with other columns to change what
is searched.
source: a table, a partitioned table, a view, a materialized view or a foreign table, named as in
SQL: public.tickets, "My Shop"."Orders"; the schema may be left out if only one has it. Only tables
have triggers (watch => false: none); of the others each refresh compares all rows.
text, id, metadata: columns, separated by commas; the others are one column each. A name is taken
as it is written if there is such a column, else as in SQL: "Order No" is quoted.
id: default: the primary key. A key of several columns is in hits as by pgrag.row_key.
title: default: the beginning of the text. format: text, markdown (cut at headings) or html.
url: a column, or an address with {key} in place of the key, such as https://desk.example/t/{key}.
tags: an array, or a text with commas. language: a column, or the language of all rows.
metadata: what filters see as front matter, with the types that the columns have; * is all others.
Rights: those of the caller, who reads every column named here, and makes triggers. Whoever may
search the library sees all rows, whatever row-level security says of the table.
Errors: PGR01, PGR02; 42501.';

-- The table of this name. Without a schema in public, else in the only schema that has one.
create or replace function _pgrag.table_named(
    name text
)
returns regclass
language plpgsql
stable
parallel safe
as $$
declare
    relation regclass := to_regclass(table_named.name);
    known text[];
begin
    if relation is null then
        known := array(
            select c.oid::regclass::text
            from pg_class as c
            join pg_namespace as n on n.oid = c.relnamespace
            where c.relkind in ('r', 'p', 'v', 'm', 'f')
                and n.nspname !~ '^(pg_|_pgrag$|information_schema$)'
            order by c.relispartition, 1
        );
        select min(k.name)::regclass
        into relation
        from unnest(known) as k (name)
        where split_part(k.name, '.', 2) in (table_named.name, quote_ident(table_named.name))
        having count(*) = 1;
    end if;
    if relation is null then
        raise exception 'There is no table %.', quote_nullable(name)
            using errcode = 'PGR01',
                hint = _pgrag.name_hint(
                    name, array(select k from unnest(known) as k where k not like 'pgrag.%'),
                    'The tables are', 'There are none.'
                );
    end if;
    return relation;
end;
$$;

-- The columns by what they are, as lists; unknown names are errors with the near ones.
create or replace function _pgrag.chosen_columns(
    source regclass,
    wishes jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
as $$
declare
    chosen jsonb;
begin
    select jsonb_object_agg(
        w.key, to_jsonb(_pgrag.column_names(chosen_columns.source, w.key, w.value))
    )
    into chosen
    from jsonb_each_text(wishes) as w (key, value)
    where w.value is not null and w.value <> '*';
    chosen := coalesce(chosen, '{}');
    if not chosen ? 'text' then
        raise exception 'text must name the columns of % that are searched.', source
            using errcode = 'PGR01',
                hint = _pgrag.name_hint(
                    'text', _pgrag.column_names(source), 'Its columns are', 'It has none.'
                );
    end if;
    if not chosen ? 'id' then
        chosen := chosen || coalesce(
            (
                select jsonb_build_object('id', jsonb_agg(a.attname order by k.nth))
                from pg_index as i
                cross join unnest(i.indkey::smallint[]) with ordinality as k (attnum, nth)
                join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = k.attnum
                where i.indrelid = source and i.indisprimary
                having count(*) > 0
            ),
            '{}'
        );
    end if;
    if wishes ->> 'metadata' = '*' then
        chosen := chosen || jsonb_build_object(
            'metadata',
            array(
                select n.name
                from unnest(_pgrag.column_names(source)) as n (name)
                where not jsonb_path_exists(
                    chosen, '$.*[*] ? (@ == $name)', jsonb_build_object('name', n.name)
                )
            )
        );
    end if;
    return chosen;
end;
$$;

-- All columns of a table, or those of a list such as: tenant, "Order No".
create or replace function _pgrag.column_names(
    source regclass,
    argument text default null,
    list text default null
)
returns text[]
language plpgsql
stable
parallel safe
as $$
declare
    known constant text[] := array(
        select a.attname::text
        from pg_attribute as a
        where a.attrelid = source and a.attnum > 0 and not a.attisdropped
        order by a.attnum
    );
    part text;
    name text;
    names text[] := '{}';
begin
    if list is null then
        return known;
    elsif btrim(list) = any (known) then
        return array[btrim(list)];
    end if;
    for part in select m[1] from regexp_matches(list, '((?:"(?:[^"]|"")*"|[^",])+)', 'g') as m loop
        part := btrim(part);
        name := case
            when part = any (known) then part
            when part ~ '^".*"$' then replace(substr(part, 2, length(part) - 2), '""', '"')
            else lower(part)
        end;
        if name <> all (known) then
            raise exception '% has no column %, which % names.',
                source, quote_literal(part), argument
                using errcode = 'PGR01',
                    hint = _pgrag.name_hint(name, known, 'Its columns are', 'It has none.')
                        || ' For an expression make a view, or a generated column.';
        end if;
        names := names || name;
    end loop;
    if cardinality(names) > 1 and argument not in ('text', 'id', 'metadata') then
        raise exception '% takes one column, got %.', argument, quote_literal(list)
            using errcode = 'PGR01', hint = 'For an expression make a view, or a generated column.';
    end if;
    return names;
end;
$$;

create or replace function _pgrag.has_column(
    source regclass,
    name text
)
returns boolean
language sql
stable
parallel safe
as $$
    select coalesce(
        has_column.name = any (_pgrag.column_names(has_column.source))
            or lower(has_column.name) = any (_pgrag.column_names(has_column.source)),
        false
    );
$$;

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
        when not has_any_column_privilege(source, 'select') then 'select'
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
