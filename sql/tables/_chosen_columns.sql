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
    where btrim(w.value) <> '' and w.value <> '*';
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
