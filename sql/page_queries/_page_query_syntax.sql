-- Parses a page query into a tree: type, columns, source, and commands in order of execution.
create or replace function _pgrag.page_query_syntax(
    query text
)
returns jsonb
language plpgsql
stable
parallel safe
as $$
declare
    tokens jsonb := _pgrag.page_query_tokens(query);
    tree jsonb := '{"columns": [], "without_id": false}';
    commands jsonb := '[]';
    type text := tokens -> 0 ->> 'word';
    nth integer := 1;
    token jsonb;
    command text;
    node jsonb;
    keys jsonb;
begin
    if type not in ('table', 'list', 'task') then
        perform _pgrag.page_query_error(
            tokens -> 0, 'expected TABLE, LIST or TASK',
            case when type = 'calendar' then 'A calendar is a TABLE of a date, sorted by it.' end
        );
    elsif type <> 'task'
        and concat_ws(' ', tokens -> 1 ->> 'word', tokens -> 2 ->> 'word') = 'without id'
    then
        tree := tree || '{"without_id": true}';
        nth := 3;
    end if;
    if type <> 'task' and tokens -> nth ->> 'kind' not in ('command', 'end') then
        select v.nth, v.keys into nth, keys
        from _pgrag.page_query_keys(query, tokens, type, nth) as v;
        tree := tree || jsonb_build_object('columns', keys);
    end if;

    loop
        token := tokens -> nth;
        command := token ->> 'word';
        nth := nth + 1;
        if token ->> 'kind' = 'end' then
            return tree || jsonb_build_object('type', type, 'commands', commands);
        elsif token ->> 'kind' <> 'command' then
            perform _pgrag.page_query_error(
                token,
                'expected FROM, WHERE, SORT, GROUP BY, FLATTEN, LIMIT or the end of the query'
            );
        elsif jsonb_array_length(commands) = 50 then
            perform _pgrag.page_query_error(token, 'these are more than 50 commands');
        elsif command = 'from' then
            if tree ? 'source' or commands <> '[]' then
                perform _pgrag.page_query_error(
                    token, 'FROM stands once, before the other commands',
                    'Join sources by and, or and -: FROM #a and -"folder".'
                );
            end if;
            select e.nth, e.node into nth, node
            from _pgrag.page_query_expression(tokens, true, nth) as e;
            tree := tree || jsonb_build_object('source', node);
            continue;
        elsif command = 'limit' then
            if tokens -> nth ->> 'text' !~ '^\d{1,9}$' then
                perform _pgrag.page_query_error(tokens -> nth, 'expected a whole number');
            end if;
            keys := jsonb_build_array(jsonb_build_object('count', tokens -> nth -> 'value'));
            nth := nth + 1;
        else
            select v.nth, v.keys into nth, keys
            from _pgrag.page_query_keys(query, tokens, command, nth) as v;
        end if;
        commands := commands
            || (keys -> 0 || jsonb_build_object('command', command, 'keys', keys));
    end loop;
end;
$$;

-- The comma-separated values of a command: columns with their names, sort keys with directions.
create or replace function _pgrag.page_query_keys(
    query text,
    tokens jsonb,
    command text,
    inout nth integer,
    out keys jsonb
)
language plpgsql
immutable
parallel safe
as $$
declare
    is_named boolean := command not in ('where', 'sort');
    most integer := case command when 'table' then 100 when 'sort' then 20 else 1 end;
    start jsonb;
    node jsonb;
    name text;
    direction text;
begin
    keys := '[]';
    loop
        start := tokens -> nth;
        if is_named and start ->> 'kind' = 'command' then
            perform _pgrag.page_query_error(
                start, 'expected a value',
                'A property of that name is row["' || (start ->> 'text') || '"].'
            );
        elsif jsonb_array_length(keys) = most then
            perform _pgrag.page_query_error(
                start,
                case command
                    when 'table' then 'these are more than 100 columns'
                    when 'sort' then 'these are more than 20 keys to sort by'
                    when 'list' then 'a LIST shows one value'
                    else upper(command) || ' takes one value'
                end,
                case command when 'list' then 'Write TABLE for several columns.' end
            );
        end if;
        select e.nth, e.node into nth, node
        from _pgrag.page_query_expression(tokens, false, nth) as e;
        name := substring(
            query from (start ->> 'at')::integer
            for (tokens -> nth - 1 ->> 'end')::integer - (start ->> 'at')::integer
        );
        direction := substring(tokens -> nth ->> 'word' from '^(asc|desc)(?:ending)?$');
        if command = 'sort' and direction is not null then
            nth := nth + 1;
        elsif is_named and tokens -> nth ->> 'word' = 'as' then
            start := tokens -> nth + 1;
            if start ->> 'kind' not in ('word', 'command', 'text') then
                perform _pgrag.page_query_error(
                    start, 'expected a name after AS', 'For example AS "Due on".'
                );
            end if;
            name := start ->> case start ->> 'kind' when 'text' then 'value' else 'text' end;
            nth := nth + 2;
        end if;
        keys := keys || jsonb_build_object(
            'value', node, 'direction', direction,
            'name', case when is_named then regexp_replace(name, '\s+', ' ', 'g') end
        );
        exit when tokens -> nth ->> 'text' <> ',';
        nth := nth + 1;
    end loop;
end;
$$;
