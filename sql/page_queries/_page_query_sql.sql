-- Translates a node of a page query to SQL over the row r: a jsonb value or, as a condition, a
-- boolean. Names, texts and numbers become literals by %L; no text of the query becomes SQL.
create or replace function _pgrag.page_query_sql(
    node jsonb,
    scope jsonb,
    is_condition boolean default false
)
returns text
language plpgsql
stable
parallel unsafe
as $$
declare
    call text := node ->> 'call';
    base text := node #>> '{of,0,text}';
    operands text[];
    condition text;
    value text;
begin
    if scope ->> 'row' = 'source' and call in ('and', 'or', 'not', 'minus') is not true then
        condition := _pgrag.page_query_source(node, scope);
    elsif node ? 'value' then
        value := format('%L::jsonb', node -> 'value');
    elsif call is null or call = '.' and base in ('file', 'row')
        and node #> '{of,1}' ? 'value'
    then
        value := _pgrag.page_query_name(node, scope);
    else
        operands := array(
            select _pgrag.page_query_sql(
                o, scope, scope ->> 'row' = 'source' or call in ('and', 'or', 'not')
            )
            from jsonb_array_elements(node -> 'of') as o
        );
        case
            when call = 'not' or call = 'minus' and scope ->> 'row' = 'source' then
                condition := format('(not %s)', operands[1]);
            when call in ('and', 'or') then
                condition := format('(%s)', array_to_string(operands, format(' %s ', call)));
            when call in ('=', '!=', '<', '<=', '>', '>=') then
                condition := coalesce(
                    _pgrag.page_query_equality(node, operands, scope),
                    format(
                        '(_pgrag.compare_page_values(%s, %s) %s 0)', operands[1], operands[2], call
                    )
                );
            when call in ('+', '-', '*', '/', '%') then
                value := format(
                    '_pgrag.page_value_operation(%L, %s, %s)', call, operands[1], operands[2]
                );
            when call = 'minus' then
                value := format('_pgrag.page_value_operation(''-'', ''0'', %s)', operands[1]);
            when call = '.' and base like '[[%' then
                perform _pgrag.page_query_error(
                    node, 'the properties of another page cannot be read',
                    'Ask for that page: FROM "folder/note".'
                );
            when call = '.' then
                value := format(
                    '_pgrag.page_value_member(%s, %s #>> ''{}'')', operands[1], operands[2]
                );
            when call in ('contains', 'icontains', 'econtains') then
                condition := format(
                    '%s(%s, %s, %L::boolean)',
                    _pgrag.page_query_function(node), operands[1], operands[2], call = 'icontains'
                );
            else
                value := format(
                    '%s(%L, array[%s]::jsonb[])',
                    _pgrag.page_query_function(node), call, array_to_string(operands, ', ')
                );
        end case;
    end if;
    return case
        when not is_condition then coalesce(value, format('to_jsonb(%s)', condition))
        else coalesce(condition, format('_pgrag.is_page_value_true(%s)', value))
    end;
end;
$$;

-- Equality with a plain literal (no date, duration or link) is jsonb equality. For a property the
-- condition adds containment in the front matter, which an index supports.
create or replace function _pgrag.page_query_equality(
    node jsonb,
    operands text[],
    scope jsonb
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    side integer := case when node #> '{of,1}' ? 'value' then 1 else 0 end;
    literal jsonb := node -> 'of' -> side -> 'value';
    other jsonb := node -> 'of' -> 1 - side;
    name text := other ->> 'text';
    equality text := format(
        '(coalesce(%s, ''null'') %s %L)', operands[2 - side], node ->> 'call', literal
    );
begin
    if literal is null or node ->> 'call' not in ('=', '!=')
        or (_pgrag.page_value_key(literal)).type in ('date', 'duration', 'link')
    then
        return null;
    elsif node ->> 'call' = '!=' or literal = 'null' or scope ->> 'row' <> 'page'
        or not coalesce((other ->> 'is_name')::boolean, false) or other ? 'value'
        or name in ('tags', 'row')
        or scope -> 'columns' ? name
    then
        return equality;
    end if;
    return (
        select format(
            '((%s) and %s)',
            string_agg(format('r.fields @> %L', jsonb_build_object(k, literal)), ' or '), equality
        )
        from jsonb_array_elements_text(
            coalesce(scope -> 'keys' -> name, jsonb_build_array(name))
        ) as k
    );
end;
$$;

-- The SQL of a name: a column of the row, a field of its page, or a property.
create or replace function _pgrag.page_query_name(
    node jsonb,
    scope jsonb
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    base text := node #>> '{of,0,text}';
    name text := coalesce(node #>> '{of,1,value}', node ->> 'text');
    keys jsonb := jsonb_build_array(name);
    known text[];
begin
    if base = 'file' or base is null and name in ('file', 'this') then
        known := array(select f.name from _pgrag.page_query_file() as f order by f.name);
        if base is null or lower(name) <> all (known) then
            perform _pgrag.page_query_error(
                node,
                case
                    when base = 'file' then format('there is no file.%s', left(name, 60))
                    when name = 'file' then 'file has no value of its own'
                    else 'a query stands on no page, so it has no this'
                end,
                case
                    when 'file' in (base, name)
                    then format('Write one of file.%s.', array_to_string(known, ', file.'))
                end
            );
        end if;
        -- A group has no file.
        return case scope ->> 'row'
            when 'group' then 'null::jsonb' else 'r.file_' || lower(name)
        end;
    elsif base is null and name = 'row' then
        return concat('r.fields', (
            select string_agg(format(' || jsonb_build_object(%L, r.%I)', c.key, c.value), '')
            from jsonb_each_text(scope -> 'columns') as c
        ));
    elsif scope -> 'columns' ? name then
        return format('nullif(r.%I, ''null'')', scope -> 'columns' ->> name);
    elsif base is null and name = 'tags' and scope ->> 'row' = 'page' then
        -- All tags of the page, in front matter and text, in any notation.
        return 'r.file_plain_tags';
    elsif base is null or node #> '{of,1,is_name}' = 'true' then
        keys := coalesce(scope -> 'keys' -> name, keys);
    end if;
    return (
        select format(
            'nullif(coalesce(%s), ''null'')', string_agg(format('r.fields -> %L', k), ', ')
        )
        from jsonb_array_elements_text(keys) as k
    );
end;
$$;
