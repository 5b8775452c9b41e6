-- A page query as one SQL statement: step_0 selects the pages (or tasks) of the source, and each
-- command is a step over the rows of the previous step, which keeps their columns and adds new
-- ones. Rows are in the order of keys until they are sorted.
create or replace function _pgrag.page_query_statement(
    query jsonb,
    library_id bigint,
    version_id bigint,
    top_k integer
)
returns text
language plpgsql
stable
parallel unsafe
as $$
declare
    -- The kind of rows, the columns of names that commands define, and the keys of properties.
    scope jsonb := _pgrag.page_query_scope(query, library_id, version_id);
    is_task constant boolean := query ->> 'type' = 'task';
    steps text[];
    -- A key may be stored out of line (TOAST): a copy avoids a fetch per comparison.
    ordering text := 'r.key || '''', r.line';
    command jsonb;
    kind text;
    value text;
    headings text[] := '{}';
    cells text[] := '{}';
begin
    steps := array[format(
        'select p.page_id, p.key, p.title, %s as line, %s as fields%s from pgrag.pages as p%s'
        ' where p.library_id = %L::bigint and p.version_id = %L::bigint and %s%s',
        case when is_task then '(t.task ->> ''line'')::integer' else 'null::integer' end,
        case when is_task then 'p.front_matter || t.task' else 'p.front_matter' end,
        (
            select string_agg(format(', %s as file_%s', f.expression, f.name), '')
            from _pgrag.page_query_file() as f
            where scope -> 'files' ? f.name
        ),
        case
            when is_task
            then ' cross join lateral jsonb_array_elements('
                || '_pgrag.page_tasks(p.key, p.head, p.body)) as t (task)'
        end,
        library_id,
        version_id,
        case
            when query ? 'source'
            then _pgrag.page_query_sql(query -> 'source', scope || '{"row": "source"}', true)
            else 'true'
        end,
        case
            -- Only open tasks, unless the query mentions the state of tasks.
            when is_task and not lower(scope ->> 'names')::jsonb
                ?| '{completed,checked,status,fullycompleted,completion}'
            then ' and not (t.task ->> ''checked'')::boolean'
        end
    )];
    for n in 1..jsonb_array_length(query -> 'commands') loop
        command := query -> 'commands' -> n - 1;
        kind := command ->> 'command';
        value := _pgrag.page_query_sql(command -> 'value', scope, kind = 'where');
        steps := steps || case kind
            when 'where' then
                format('select r.* from step_%s as r where %s', n - 1, value)
            when 'limit' then
                format(
                    'select r.* from step_%s as r order by %s limit %L::bigint',
                    n - 1, ordering, command ->> 'count'
                )
            when 'sort' then
                (
                    select format(
                        'select r.*, row_number() over (order by %s, %s) as place_%s'
                        ' from step_%s as r %s',
                        string_agg(
                            format(
                                'k%1$s.rank %2$s, k%1$s.number %2$s, k%1$s.words collate "C" %2$s',
                                k.place, k.key ->> 'direction'
                            ),
                            ', ' order by k.place
                        ),
                        ordering, n, n - 1,
                        string_agg(
                            format(
                                'cross join lateral _pgrag.page_value_key(%s) as k%s',
                                _pgrag.page_query_sql(k.key -> 'value', scope), k.place
                            ),
                            ' ' order by k.place
                        )
                    )
                    from jsonb_array_elements(command -> 'keys') with ordinality as k (key, place)
                )
            when 'flatten' then
                format(
                    'select r.*, m.value as value_%1$s,'
                    ' row_number() over (order by %3$s, m.place) as place_%1$s'
                    ' from step_%2$s as r cross join lateral'
                    ' jsonb_path_query(coalesce(%4$s, ''null''), ''lax $[*]'')'
                    ' with ordinality as m (value, place)',
                    n, n - 1, ordering, value
                )
            else
                format(
                    'select null::bigint as page_id, null::text as key, null::text as title,'
                    ' null::integer as line, ''{}''::jsonb as fields, g.value as value_%1$s,'
                    ' g.members as rows_%1$s, row_number() over (order by k.rank, k.number,'
                    ' k.words collate "C", g.value::text) as place_%1$s'
                    ' from (select %4$s as value, jsonb_agg(%5$s order by %3$s) as members'
                    ' from step_%2$s as r group by 1) as g'
                    ' cross join lateral _pgrag.page_value_key(g.value) as k',
                    n, n - 1, ordering, value, _pgrag.page_query_member(query, scope)
                )
        end;
        if kind in ('sort', 'flatten', 'group by') then
            ordering := 'r.place_' || n;
        end if;
        if kind = 'flatten' then
            scope := jsonb_set(
                scope, array['columns', command ->> 'name'], to_jsonb('value_' || n)
            );
        elsif kind = 'group by' then
            scope := scope || jsonb_build_object(
                'row', 'group',
                'columns', jsonb_build_object(command ->> 'name', 'value_' || n)
                    || jsonb_build_object('key', 'value_' || n, 'rows', 'rows_' || n)
            );
        end if;
    end loop;

    if is_task and scope ->> 'row' = 'group' then
        headings := '{Group,Tasks}';
        cells := array['r.' || (scope #>> '{columns,key}'), 'r.' || (scope #>> '{columns,rows}')];
    elsif is_task then
        headings := '{Task,Status,Heading}';
        cells := '{r.fields -> ''text'',r.fields -> ''status'',r.fields -> ''heading''}';
    elsif not (query -> 'without_id')::boolean or query -> 'columns' = '[]' then
        headings := case scope ->> 'row' when 'group' then '{Group}' else '{File}' end;
        cells := array[
            case scope ->> 'row'
                when 'group' then 'r.' || (scope #>> '{columns,key}')
                else 'r.file_link'
            end
        ];
    end if;
    for value, command in
        select _pgrag.page_query_sql(c -> 'value', scope), c
        from jsonb_array_elements(query -> 'columns') as c
    loop
        headings := headings || (command ->> 'name');
        cells := cells || value;
    end loop;
    return format(
        'with %1$s select s.page_id, s.key, s.title, s.line, s.document_id, (select'
        ' json_object_agg(c.name, c.value order by c.place)'
        ' from unnest(%2$L::text[], s.cells) with ordinality as c (name, value, place)),'
        ' %2$L::text[], to_jsonb(s.cells) from (select r.page_id, r.key, r.title, r.line,'
        ' %3$s as document_id, array[%4$s]::jsonb[] as cells, row_number() over (order by %5$s)'
        ' as place from step_%6$s as r order by place limit %7$L::bigint) as s order by s.place',
        (
            select string_agg(format('step_%s as (%s)', s.n - 1, s.step), ', ' order by s.n)
            from unnest(steps) with ordinality as s (step, n)
        ),
        headings,
        case scope ->> 'row'
            when 'task'
            then format(
                -- The smallest passage that contains the line.
                '(select d.document_id from pgrag.documents as d where d.library_id = %L::bigint'
                ' and d.page_id = r.page_id and r.line between d.line_start and d.line_end'
                ' order by d.level desc, d.line_end - d.line_start, d.sort_order limit 1)',
                library_id
            )
            else 'null::bigint'
        end,
        array_to_string(cells, ', '), ordering, cardinality(steps) - 1, top_k
    );
end;
$$;

-- A row as a member of a group, if possible with only the fields that the query uses.
create or replace function _pgrag.page_query_member(
    query jsonb,
    scope jsonb
)
returns text
language plpgsql
stable
parallel safe
as $$
declare
    file text := case
        when scope ->> 'row' = 'group' then 'null::jsonb'
        else (
            select format('jsonb_build_object(%s)', string_agg(format('%L, r.file_%s', f, f), ', '))
            from jsonb_array_elements_text(scope -> 'files') as f
        )
    end;
    fields text := _pgrag.page_query_name('{"text": "row"}', scope);
begin
    if query ->> 'type' <> 'task'
        and jsonb_array_length(
            jsonb_path_query_array(query, '$.commands[*] ? (@.command == "group by")')
        ) = 1
        and not jsonb_path_exists(
            query,
            '$.** ? (@.value.text == "rows" || @.of[*].text == "rows" && @.call != "length"'
            ' && !(@.call == "." && @.of[1].is_name == true))'
        )
    then
        return (
            select concat(
                '''{}''::jsonb',
                string_agg(
                    format(
                        ' || jsonb_build_object(%L, %s)',
                        n.name,
                        case n.name
                            when 'file' then file
                            else _pgrag.page_query_name(
                                jsonb_build_object('text', n.name, 'at', 1), scope
                            )
                        end
                    ),
                    ''
                )
            )
            from (
                select distinct m #>> '{}' as name
                from jsonb_path_query(query, '$.** ? (@.of[0].text == "rows").of[1].value') as m
            ) as n
        );
    elsif scope -> 'files' ? 'plain_tags' and scope ->> 'row' = 'page'
        and not scope -> 'columns' ? 'tags'
    then
        fields := fields || ' || jsonb_build_object(''tags'', r.file_plain_tags)';
    end if;
    return format('%s || jsonb_build_object(''file'', %s)', fields, file);
end;
$$;
