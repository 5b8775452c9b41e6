-- A query over pages as one statement: the pages (or tasks) of its source, then each command as a
-- select over what the one before it left. Rows keep the order of keys until they are sorted.
create or replace function pgrag._page_query_statement(
    query jsonb,
    library_id bigint,
    version_id bigint,
    match_count integer
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    is_task boolean := query ->> 'type' = 'task';
    scope jsonb := jsonb_build_object(
        'row', case when is_task then 'task' else 'page' end,
        'flattened', '[]'::jsonb,
        'keys', pgrag._page_query_keys(
            library_id, version_id, pgrag._page_query_property_names(query)
        )
    );
    files text[] := pgrag._page_query_files(query);
    kept text := 'r.page_id, r.key, r.title, r.line, r.fields'
        || pgrag._page_query_each_file(', r.%I', files);
    statement text := pgrag._page_query_rows(query, library_id, version_id, scope, files);
    sorted text := 'r.key, r.line';
    command jsonb;
    value text;
begin
    for value in
        select n
        from unnest(pgrag._page_query_property_names(query)) as n
        where not is_task
            and n not in ('key', 'rows', 'tags')
            and not scope -> 'keys' ? pgrag._property_name(n)
            and not exists (
                select from jsonb_array_elements(query -> 'commands') as c where c ->> 'name' = n
            )
        order by n
    loop
        raise notice 'No page has a property %.', quote_literal(value);
    end loop;
    for command in select c from jsonb_array_elements(query -> 'commands') as c loop
        case command ->> 'command'
            when 'where' then
                statement := format(
                    'select %s, r.place from (%s) as r where %s',
                    kept, statement, pgrag._page_query_condition(command -> 'value', scope)
                );
            when 'sort' then
                statement := format(
                    'select %s, row_number() over (order by %s, %s) as place from (%s) as r %s',
                    kept,
                    (
                        select string_agg(
                            format(
                                'k%1$s.rank %2$s, k%1$s.number %2$s, k%1$s.words collate "C" %2$s',
                                k.place,
                                case when k.key @> '{"is_descending": true}' then 'desc' end
                            ),
                            ', ' order by k.place
                        )
                        from jsonb_array_elements(command -> 'keys') with ordinality
                            as k (key, place)
                    ),
                    -- A key may be stored out of line, and would be fetched for each comparison.
                    replace(sorted, 'r.key', 'r.key || '''''), statement,
                    (
                        select string_agg(
                            format(
                                'cross join lateral pgrag._page_value_key(%s) as k%s',
                                pgrag._page_query_value(k.key -> 'value', scope), k.place
                            ),
                            ' ' order by k.place
                        )
                        from jsonb_array_elements(command -> 'keys') with ordinality
                            as k (key, place)
                    )
                );
                sorted := 'r.place';
            when 'limit' then
                statement := format(
                    'select %s, r.place from (%s) as r order by %s limit %L::bigint',
                    kept, statement, sorted, command ->> 'value'
                );
            when 'flatten' then
                value := pgrag._page_query_value(command -> 'value', scope);
                statement := format(
                    'select %s, row_number() over (order by %s, m.place) as place from (%s) as r'
                    ' cross join lateral jsonb_array_elements(pgrag._as_list(%s)) with ordinality'
                    ' as m (value, place)',
                    replace(
                        kept, 'r.fields',
                        format(
                            'r.fields || jsonb_build_object(%L, m.value) as fields',
                            command ->> 'name'
                        )
                    ),
                    sorted, statement, value
                );
                sorted := 'r.place';
                scope := jsonb_set(
                    scope, '{flattened}', (scope -> 'flattened') || (command -> 'name')
                );
            else
                value := pgrag._page_query_value(command -> 'value', scope);
                statement := format(
                    'select null::bigint as page_id, null::text as key, null::text as title,'
                    ' null::integer as line, jsonb_build_object(%1$L, g.value)'
                    ' || jsonb_build_object(''key'', g.value, ''rows'', g.members) as fields%2$s,'
                    ' row_number() over (order by k.rank, k.number, k.words collate "C",'
                    ' g.value::text) as place from (select v.value, jsonb_agg(v.member order by'
                    ' v.place) as members from (select %3$s as value,'
                    ' %4$s as member,'
                    ' row_number() over (order by %5$s) as place from (%6$s) as r) as v'
                    ' group by v.value) as g'
                    ' cross join lateral pgrag._page_value_key(g.value) as k',
                    command ->> 'name',
                    pgrag._page_query_each_file(', null::jsonb as %I', files),
                    value,
                    pgrag._page_query_member(query, scope, files),
                    sorted, statement
                );
                sorted := 'r.place';
                scope := scope || '{"row": "group"}';
        end case;
    end loop;
    return format(
        'select r.page_id, r.key, r.title, r.line, %s as document_id, %L::text[] as columns,'
        ' %s as "values", row_number() over (order by %s) as place from (%s) as r'
        ' order by place limit %L::bigint',
        case
            when scope ->> 'row' = 'task'
            then format('pgrag._document_at(%L::bigint, r.page_id, r.line)', library_id)
            else 'null::bigint'
        end,
        pgrag._page_query_headings(query, scope),
        pgrag._page_query_cells(query, scope),
        sorted, statement, match_count
    );
end;
$$;

-- A row as one of the rows of a group, with no more of it than the query asks for.
create or replace function pgrag._page_query_member(
    query jsonb,
    scope jsonb,
    files text[]
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    names text[] := array(
        select distinct m #>> '{}'
        from jsonb_path_query(
            query, '$.** ? (@.node == "member" && @.of[0].name == "rows").name'
        ) as m
    );
    uses bigint := (
        select count(*)
        from jsonb_path_query(query, '$.** ? (@.node == "name" && @.name == "rows")')
    );
    known_uses bigint := (
        select count(*)
        from jsonb_path_query(
            query,
            '$.** ? ((@.node == "member" || @.node == "call" && @.name == "length")'
            ' && @.of[0].node == "name" && @.of[0].name == "rows")'
        )
    );
    file text := case
        when scope ->> 'row' = 'group' then 'null::jsonb'
        else format(
            'jsonb_build_object(%s)',
            ltrim(pgrag._page_query_each_file(', %2$L, r.%1$I', files), ', ')
        )
    end;
begin
    if uses > known_uses or query ->> 'type' = 'task'
        or jsonb_array_length(
            jsonb_path_query_array(query, '$.commands[*] ? (@.command == "group by")')
        ) > 1
    then
        return format(
            'r.fields || jsonb_build_object(''file'', %s)%s',
            file,
            case
                when 'plain_tags' = any (files) and not scope -> 'flattened' ? 'tags'
                    and scope ->> 'row' = 'page'
                then ' || jsonb_build_object(''tags'', r.file_plain_tags)'
            end
        );
    end if;
    return (
        select format('jsonb_build_object(%s)', coalesce(string_agg(m.entry, ', '), ''))
        from (
            select format(
                '%L, %s',
                n,
                case n
                    when 'file' then file
                    else pgrag._page_query_name(jsonb_build_object('name', n, 'at', 1), scope)
                end
            ) as entry
            from unnest(names) as n
        ) as m
    );
end;
$$;

create or replace function pgrag._page_query_each_file(
    template text,
    files text[]
)
returns text
language sql
immutable
parallel safe
as $$
    select coalesce(
        pg_catalog.string_agg(
            pg_catalog.format(_page_query_each_file.template, 'file_' || f, f), '' order by f
        ),
        ''
    )
    from pg_catalog.unnest(_page_query_each_file.files) as f;
$$;

create or replace function pgrag._as_list(
    value jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.jsonb_typeof(_as_list.value) = 'array' then _as_list.value
        else pg_catalog.jsonb_build_array(_as_list.value)
    end;
$$;

-- The smallest passage that holds a line of a page.
create or replace function pgrag._document_at(
    library_id bigint,
    page_id bigint,
    line integer
)
returns bigint
language sql
stable
parallel safe
set search_path from current
as $$
    select d.document_id
    from pgrag.documents as d
    where d.library_id = _document_at.library_id
        and d.page_id = _document_at.page_id
        and _document_at.line between d.line_start and d.line_end
    order by d.level desc, d.line_end - d.line_start, d.sort_order
    limit 1;
$$;
