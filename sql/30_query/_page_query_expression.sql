-- An expression of a query over pages as a tree, by the strength of its operators: or, and,
-- comparisons, + and -, * / %. A node says what it is (node), what it holds and where it stands.
create or replace function pgrag._page_query_expression(
    tokens jsonb,
    minimum integer,
    depth integer,
    inout place integer,
    out node jsonb
)
returns record
language plpgsql
stable
parallel unsafe
set search_path from current
as $$
declare
    found record;
    token jsonb;
    operator text;
    strength integer;
begin
    if depth > 40 then
        perform pgrag._page_query_error(
            (tokens -> place ->> 'at')::integer, 'this is nested too deeply.',
            'An expression may be nested 40 times.'
        );
    end if;
    found := pgrag._page_query_operand(tokens, depth, place);
    place := found.place;
    node := found.node;
    loop
        token := tokens -> place;
        operator := lower(token ->> 'text');
        operator := case
            when token ->> 'kind' not in ('sign', 'word') then ''
            when operator = '&' then 'and'
            when operator = '|' then 'or'
            else operator
        end;
        strength := case
            when operator = 'or' then 1
            when operator = 'and' then 2
            when operator in ('=', '!=', '<', '<=', '>', '>=') then 4
            when operator in ('+', '-') then 5
            when operator in ('*', '/', '%') then 6
            else 0
        end;
        exit when strength < minimum or strength = 0;
        if depth >= 40 then
            perform pgrag._page_query_error(
                (token ->> 'at')::integer, 'these are too many operators in a row.',
                'Join 30 values at most, or use join(list(…)) and sum(list(…)).'
            );
        end if;
        found := pgrag._page_query_expression(tokens, strength + 1, depth + 1, place + 1);
        place := found.place;
        if strength < 3 and node ->> 'node' = operator then
            -- A long chain of them is one node, not a deep tree.
            node := jsonb_set(node, '{of}', (node -> 'of') || jsonb_build_array(found.node));
        else
            node := jsonb_build_object(
                'node', case when strength < 3 then operator else 'operator' end,
                'operator', operator,
                'of', jsonb_build_array(node, found.node),
                'at', token -> 'at'
            );
            depth := depth + 1;
        end if;
    end loop;
end;
$$;

-- What stands between operators: a literal, a name, a call, a list, something in parentheses, and
-- what is picked from it by .name and [index].
create or replace function pgrag._page_query_operand(
    tokens jsonb,
    depth integer,
    inout place integer,
    out node jsonb
)
returns record
language plpgsql
stable
parallel unsafe
set search_path from current
as $$
declare
    token jsonb := tokens -> place;
    word text := lower(token ->> 'text');
    kind text := token ->> 'kind';
    found record;
begin
    if kind = 'sign' and word in ('!', '-') or kind = 'word' and word = 'not' then
        if depth > 40 then
            perform pgrag._page_query_error(
                (token ->> 'at')::integer, 'this is nested too deeply.', null
            );
        elsif word = 'not' then
            found := pgrag._page_query_expression(tokens, 4, depth + 1, place + 1);
        else
            found := pgrag._page_query_operand(tokens, depth + 1, place + 1);
        end if;
        place := found.place;
        node := jsonb_build_object(
            'node', case word when '-' then 'minus' else 'not' end,
            'of', jsonb_build_array(found.node), 'at', token -> 'at'
        );
        return;
    elsif kind = 'sign' and word = '(' then
        found := pgrag._page_query_expression(tokens, 1, depth + 1, place + 1);
        place := pgrag._page_query_closed(tokens, found.place, ')', token);
        -- In parentheses a chain is one operand.
        node := jsonb_build_object(
            'node', 'group', 'of', jsonb_build_array(found.node), 'at', token -> 'at'
        );
    elsif kind = 'sign' and word = '[' then
        found := pgrag._page_query_arguments(tokens, ']', depth, place + 1);
        place := pgrag._page_query_closed(tokens, found.place, ']', token);
        node := jsonb_build_object('node', 'list', 'of', found.nodes, 'at', token -> 'at');
    elsif kind = 'word' and tokens -> place + 1 ->> 'text' = '('
        and tokens -> place + 1 ->> 'kind' = 'sign'
    then
        found := pgrag._page_query_arguments(tokens, ')', depth, place + 2);
        place := pgrag._page_query_closed(tokens, found.place, ')', tokens -> place + 1);
        node := jsonb_build_object(
            'node', 'call', 'name', word, 'of', found.nodes, 'at', token -> 'at'
        );
        perform pgrag._page_query_function(node);
    elsif kind in ('text', 'number', 'link', 'tag', 'date', 'duration', 'word') then
        node := pgrag._page_query_literal(token);
        place := place + 1;
    else
        perform pgrag._page_query_expected(token, 'a value, a property or a function');
    end if;

    while tokens -> place ->> 'kind' = 'sign' and tokens -> place ->> 'text' in ('.', '[')
    loop
        token := tokens -> place;
        if token ->> 'text' = '.' then
            if tokens -> place + 1 ->> 'kind' <> 'word' then
                perform pgrag._page_query_expected(tokens -> place + 1, 'a name after the dot');
            end if;
            node := jsonb_build_object(
                'node', 'member', 'name', tokens -> place + 1 -> 'text',
                'of', jsonb_build_array(node), 'at', node -> 'at'
            );
            place := place + 2;
        else
            found := pgrag._page_query_expression(tokens, 1, depth + 1, place + 1);
            place := pgrag._page_query_closed(tokens, found.place, ']', token);
            node := jsonb_build_object(
                'node', 'index', 'of', jsonb_build_array(node, found.node), 'at', node -> 'at'
            );
        end if;
        depth := depth + 1;
        if depth > 40 then
            perform pgrag._page_query_error(
                (token ->> 'at')::integer, 'this is nested too deeply.', null
            );
        end if;
    end loop;
end;
$$;

create or replace function pgrag._page_query_arguments(
    tokens jsonb,
    closing text,
    depth integer,
    inout place integer,
    out nodes jsonb
)
returns record
language plpgsql
stable
parallel unsafe
set search_path from current
as $$
declare
    found record;
begin
    nodes := '[]';
    if tokens -> place ->> 'text' = closing then
        return;
    end if;
    loop
        found := pgrag._page_query_expression(tokens, 1, depth + 1, place);
        place := found.place;
        nodes := nodes || jsonb_build_array(found.node);
        exit when tokens -> place ->> 'text' <> ',';
        place := place + 1;
    end loop;
end;
$$;

-- The place behind a closing sign, which must stand here.
create or replace function pgrag._page_query_closed(
    tokens jsonb,
    place integer,
    closing text,
    opening jsonb
)
returns integer
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    if tokens -> place ->> 'text' <> closing or tokens -> place ->> 'kind' <> 'sign' then
        perform pgrag._page_query_expected(
            tokens -> place,
            format('%s for the %s of column %s', closing, opening ->> 'text', opening ->> 'at')
        );
    end if;
    return place + 1;
end;
$$;

-- A token that stands for itself. Dates and durations are the texts that they are written as, just
-- as in front matter.
create or replace function pgrag._page_query_literal(
    token jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    written text := token ->> 'text';
    inside text := btrim(regexp_replace(written, '^[^(]*\(|\)$', '', 'g'));
    literal jsonb;
begin
    case token ->> 'kind'
        when 'text' then
            literal := to_jsonb(
                regexp_replace(substr(written, 2, length(written) - 2), '\\(["\\])', '\1', 'g')
            );
        when 'number' then
            literal := to_jsonb(written::numeric);
        when 'link' then
            literal := to_jsonb(written);
        when 'tag' then
            literal := to_jsonb(written);
        when 'duration' then
            literal := to_jsonb(inside);
            if pgrag._duration(literal) is null then
                perform pgrag._page_query_error(
                    (token ->> 'at')::integer, format('%s is no duration.', quote_literal(inside)),
                    'Write dur(7 days) or dur(1 month, 2 weeks): years, months, weeks, days, hours,'
                    ' minutes, seconds.'
                );
            end if;
        when 'date' then
            if inside = any (pgrag._date_words()) then
                return jsonb_build_object('node', 'day', 'name', inside, 'at', token -> 'at');
            elsif inside ~ '^[a-z]' then
                return jsonb_build_object(
                    'node', 'call', 'name', 'date', 'at', token -> 'at',
                    'of', jsonb_build_array(
                        jsonb_build_object('node', 'name', 'name', inside, 'at', token -> 'at')
                    )
                );
            end if;
            literal := to_jsonb(inside);
            if pgrag._moment(literal) is null then
                perform pgrag._page_query_error(
                    (token ->> 'at')::integer, format('%s is no date.', quote_literal(inside)),
                    'Write date(2024-12-01), date(2024-12-01T08:30) or date(today).'
                );
            end if;
        else
            literal := case lower(written)
                when 'true' then 'true'::jsonb
                when 'false' then 'false'::jsonb
                when 'null' then 'null'::jsonb
            end;
            if literal is null then
                return jsonb_build_object('node', 'name', 'name', written, 'at', token -> 'at');
            end if;
    end case;
    return jsonb_build_object('node', 'literal', 'value', literal, 'at', token -> 'at');
end;
$$;
