-- A query over pages as one tree: its type, columns, source and commands, in the order in which
-- they are written and carried out.
create or replace function pgrag._page_query_syntax(
    query text
)
returns jsonb
language plpgsql
stable
parallel unsafe
set search_path from current
as $$
declare
    tokens jsonb := pgrag._page_query_tokens(query);
    place integer := 1;
    type text := lower(tokens -> 0 ->> 'text');
    command text;
    columns jsonb := '[]';
    source jsonb;
    commands jsonb := '[]';
    is_without_id boolean := false;
    found record;
begin
    if tokens -> 0 ->> 'kind' <> 'word' or type not in ('table', 'list', 'task') then
        perform pgrag._page_query_expected(
            tokens -> 0, 'TABLE, LIST or TASK',
            case when type = 'calendar' then 'A calendar is a TABLE of a date, sorted by it.' end
        );
    end if;
    if type <> 'task' and pgrag._page_query_words(tokens, place, 2) = 'without id' then
        is_without_id := true;
        place := place + 2;
    end if;
    command := pgrag._page_query_command(tokens, place);
    if type <> 'task' and command is null and tokens -> place ->> 'kind' <> 'end' then
        found := pgrag._page_query_columns(query, tokens, place);
        place := found.place;
        columns := found.columns;
        if type = 'list' and jsonb_array_length(columns) > 1 then
            perform pgrag._page_query_error(
                (columns -> 1 -> 'value' ->> 'at')::integer, 'a LIST shows one value.',
                'Write TABLE for several columns.'
            );
        end if;
    end if;

    while tokens -> place ->> 'kind' <> 'end' loop
        command := pgrag._page_query_command(tokens, place);
        if jsonb_array_length(commands) >= 50 then
            perform pgrag._page_query_error(
                (tokens -> place ->> 'at')::integer, 'these are more than 50 commands.', null
            );
        elsif command is null then
            perform pgrag._page_query_expected(
                tokens -> place,
                'FROM, WHERE, SORT, GROUP BY, FLATTEN, LIMIT or the end of the query'
            );
        elsif command = 'from' then
            if source is not null or commands <> '[]' then
                perform pgrag._page_query_error(
                    (tokens -> place ->> 'at')::integer,
                    'FROM stands once, before the other commands.',
                    'Join sources by and, or and -: FROM #a and -"folder".'
                );
            end if;
            found := pgrag._page_query_source(tokens, 1, 1, place + 1);
            source := found.node;
        elsif command = 'where' then
            found := pgrag._page_query_expression(tokens, 1, 1, place + 1);
            commands := commands || jsonb_build_object('command', command, 'value', found.node);
        elsif command = 'limit' then
            if tokens -> place + 1 ->> 'text' !~ '^\d{1,9}$' then
                perform pgrag._page_query_expected(tokens -> place + 1, 'a whole number');
            end if;
            commands := commands || jsonb_build_object(
                'command', command, 'value', (tokens -> place + 1 ->> 'text')::integer
            );
            place := place + 2;
            continue;
        elsif command = 'sort' then
            found := pgrag._page_query_sort_keys(tokens, place + 1);
            commands := commands || jsonb_build_object('command', command, 'keys', found.sort_keys);
        else
            found := pgrag._page_query_columns(
                query, tokens, place + case command when 'group by' then 2 else 1 end
            );
            if jsonb_array_length(found.columns) > 1 then
                perform pgrag._page_query_error(
                    (found.columns -> 1 -> 'value' ->> 'at')::integer,
                    format('%s takes one value.', upper(command)), null
                );
            end if;
            commands := commands
                || (found.columns -> 0 || jsonb_build_object('command', command));
        end if;
        place := found.place;
    end loop;
    return jsonb_build_object(
        'type', type, 'without_id', is_without_id, 'columns', columns, 'source', source,
        'commands', commands
    );
end;
$$;

-- The command that begins here, if one does.
create or replace function pgrag._page_query_command(
    tokens jsonb,
    place integer
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when _page_query_command.tokens -> _page_query_command.place ->> 'kind' <> 'word' then null
        when pgrag._page_query_words(_page_query_command.tokens, _page_query_command.place, 2)
            = 'group by'
        then 'group by'
        -- sort(…) is a function.
        when _page_query_command.tokens -> _page_query_command.place ->> 'text' ilike 'sort'
            and _page_query_command.tokens -> _page_query_command.place + 1 ->> 'text' = '('
            and _page_query_command.tokens -> _page_query_command.place -> 'end'
                = _page_query_command.tokens -> _page_query_command.place + 1 -> 'at'
        then null
        else (
            select c.name
            from (
                values ('from'), ('where'), ('sort'), ('flatten'), ('limit')
            ) as c (name)
            where c.name = pgrag._page_query_words(
                _page_query_command.tokens, _page_query_command.place, 1
            )
        )
    end;
$$;

create or replace function pgrag._page_query_words(
    tokens jsonb,
    place integer,
    count integer
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.lower(
        pg_catalog.string_agg(
            _page_query_words.tokens -> n ->> 'text', ' ' order by n
        )
    )
    from pg_catalog.generate_series(
        _page_query_words.place, _page_query_words.place + _page_query_words.count - 1
    ) as n;
$$;

-- Values with their names, AS "name" or else as they are written.
create or replace function pgrag._page_query_columns(
    query text,
    tokens jsonb,
    inout place integer,
    out columns jsonb
)
returns record
language plpgsql
stable
parallel unsafe
set search_path from current
as $$
declare
    found record;
    name text;
    start integer;
begin
    columns := '[]';
    loop
        start := (tokens -> place ->> 'at')::integer;
        if pgrag._page_query_command(tokens, place) is not null then
            perform pgrag._page_query_expected(
                tokens -> place, 'a value',
                'A property of that name is row["' || (tokens -> place ->> 'text') || '"].'
            );
        end if;
        found := pgrag._page_query_expression(tokens, 1, 1, place);
        place := found.place;
        name := substr(query, start, (tokens -> place - 1 ->> 'end')::integer - start);
        if pgrag._page_query_words(tokens, place, 1) = 'as' then
            place := place + 1;
            name := case tokens -> place ->> 'kind'
                when 'word' then tokens -> place ->> 'text'
                when 'text' then pgrag._page_query_literal(tokens -> place) ->> 'value'
            end;
            if name is null then
                perform pgrag._page_query_expected(
                    tokens -> place, 'a name after AS', 'For example AS "Due on".'
                );
            end if;
            place := place + 1;
        end if;
        columns := columns || jsonb_build_object(
            'name', regexp_replace(name, '\s+', ' ', 'g'), 'value', found.node
        );
        if jsonb_array_length(columns) > 100 then
            perform pgrag._page_query_error(start, 'these are more than 100 columns.', null);
        end if;
        exit when tokens -> place ->> 'text' <> ',';
        place := place + 1;
    end loop;
end;
$$;

create or replace function pgrag._page_query_sort_keys(
    tokens jsonb,
    inout place integer,
    out sort_keys jsonb
)
returns record
language plpgsql
stable
parallel unsafe
set search_path from current
as $$
declare
    found record;
    direction text;
begin
    sort_keys := '[]';
    loop
        found := pgrag._page_query_expression(tokens, 1, 1, place);
        place := found.place;
        direction := pgrag._page_query_words(tokens, place, 1);
        if direction in ('asc', 'ascending', 'desc', 'descending') then
            place := place + 1;
        end if;
        sort_keys := sort_keys || jsonb_build_object(
            'value', found.node, 'is_descending', direction in ('desc', 'descending')
        );
        if jsonb_array_length(sort_keys) > 20 then
            perform pgrag._page_query_error(
                (tokens -> place ->> 'at')::integer, 'these are more than 20 keys to sort by.', null
            );
        end if;
        exit when tokens -> place ->> 'text' <> ',';
        place := place + 1;
    end loop;
end;
$$;
