-- A page query as one SQL statement: step_0 selects the pages or tasks of the source; each command
-- is a step that adds columns to the rows before. Rows are ordered by key until they are sorted.
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
    scope jsonb := _pgrag.page_query_scope(query, library_id, version_id);
    is_task constant boolean := query ->> 'type' = 'task';
    is_group boolean := false;
    steps text[];
    -- A key may be stored out of line (TOAST): a copy avoids a fetch per comparison.
    ordering text := 'r.key || '''', r.line';
    command jsonb;
    kind text;
    value text;
    headings text[];
    cells text[];
begin
    steps := array[format(
        'select p.page_id, p.key, p.title, '
        || case
            when is_task
            then '(t.task ->> ''line'')::integer as line, p.front_matter || t.task as fields%s'
                ' from pgrag.pages as p cross join lateral jsonb_array_elements('
                '_pgrag.page_tasks(p.key, p.head, p.body)) as t (task)'
            else 'null::integer as line, p.front_matter as fields%s from pgrag.pages as p'
        end
        || ' where p.library_id = %L::bigint and p.version_id = %L::bigint and %s%s',
        (
            select string_agg(format(', %s as file_%s', f.expression, f.name), '')
            from _pgrag.page_query_file() as f
            where scope -> 'files' ? f.name
        ),
        library_id, version_id,
        case
            when query ? 'source'
            then _pgrag.page_query_sql(query -> 'source', scope || '{"row": "source"}', true)
            else 'true'
        end,
        case
            -- Only open tasks, unless the query names their state.
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
            when 'where' then format('select r.* from step_%s as r where %s', n - 1, value)
            when 'limit' then format(
                'select r.* from step_%s as r order by %s limit %L::bigint',
                n - 1, ordering, command ->> 'count'
            )
            when 'sort' then (
                select format(
                    'select r.*, row_number() over (order by %s, %s) as nth_%s from step_%s as r%s',
                    string_agg(
                        format(
                            'k%1$s.rank %2$s, k%1$s.number %2$s, k%1$s.words collate "C" %2$s',
                            k.nth, k.key ->> 'direction'
                        ),
                        ', ' order by k.nth
                    ),
                    ordering, n, n - 1,
                    string_agg(
                        format(
                            ' cross join lateral _pgrag.page_value_key(%s) as k%s',
                            _pgrag.page_query_sql(k.key -> 'value', scope), k.nth
                        ),
                        '' order by k.nth
                    )
                )
                from jsonb_array_elements(command -> 'keys') with ordinality as k (key, nth)
            )
            when 'flatten' then format(
                'select r.*, m.value as value_%1$s,'
                ' row_number() over (order by %3$s, m.nth) as nth_%1$s'
                ' from step_%2$s as r cross join lateral'
                ' jsonb_path_query(coalesce(%4$s, ''null''), ''lax $[*]'')'
                ' with ordinality as m (value, nth)',
                n, n - 1, ordering, value
            )
            else format(
                'select null::bigint as page_id, null::text as key, null::text as title,'
                ' null::integer as line, ''{}''::jsonb as fields, g.value as value_%1$s,'
                ' g.members as rows_%1$s, row_number() over (order by k.rank, k.number,'
                ' k.words collate "C", g.value::text) as nth_%1$s'
                ' from (select %4$s as value, jsonb_agg(%5$s order by %3$s) as members'
                ' from step_%2$s as r group by 1) as g'
                ' cross join lateral _pgrag.page_value_key(g.value) as k',
                n, n - 1, ordering, value, _pgrag.page_query_member(query, scope)
            )
        end;
        ordering := case when kind in ('where', 'limit') then ordering else 'r.nth_' || n end;
        if kind = 'flatten' then
            scope['columns'][command ->> 'name'] := to_jsonb('value_' || n);
        elsif kind = 'group by' then
            is_group := true;
            scope := scope || jsonb_build_object(
                'row', 'group',
                'columns', jsonb_build_object(
                    command ->> 'name', 'value_' || n, 'key', 'value_' || n, 'rows', 'rows_' || n
                )
            );
        end if;
    end loop;

    headings := case
        when is_task and is_group then '{Group,Tasks}'
        when is_task then '{Task,Status,Heading}'
        when (query -> 'without_id')::boolean and query -> 'columns' <> '[]' then '{}'
        when is_group then '{Group}'
        else '{File}'
    end::text[];
    cells := case
        when is_group then array[
            'r.' || (scope #>> '{columns,key}'), 'r.' || (scope #>> '{columns,rows}')
        ]
        when is_task
        then '{r.fields -> ''text'',r.fields -> ''status'',r.fields -> ''heading''}'
        else '{r.file_link}'
    end;
    cells := cells[:cardinality(headings)];
    for command in select c from jsonb_array_elements(query -> 'columns') as c loop
        headings := headings || (command ->> 'name');
        cells := cells || _pgrag.page_query_sql(command -> 'value', scope);
    end loop;
    return format(
        'with %1$s select s.page_id, s.key, s.title, s.line, s.document_id, (select'
        ' json_object_agg(c.name, c.value order by c.nth)'
        ' from unnest(%2$L::text[], s.cells) with ordinality as c (name, value, nth)),'
        ' %2$L::text[], to_jsonb(s.cells) from (select r.page_id, r.key, r.title, r.line,'
        ' %3$s as document_id, array[%4$s]::jsonb[] as cells, row_number() over (order by %5$s)'
        ' as nth from step_%6$s as r order by nth limit %7$L::bigint) as s order by s.nth',
        (
            select string_agg(format('step_%s as (%s)', s.n - 1, s.step), ', ' order by s.n)
            from unnest(steps) with ordinality as s (step, n)
        ),
        headings,
        case
            when is_group or not is_task then 'null::bigint'
            -- The smallest passage that contains the line.
            else format(
                '(select d.document_id from pgrag.documents as d where d.library_id = %L::bigint'
                ' and d.page_id = r.page_id and r.line between d.line_start and d.line_end'
                ' order by d.level desc, d.line_end - d.line_start, d.sort_order limit 1)',
                library_id
            )
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
