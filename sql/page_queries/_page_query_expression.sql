-- Parses an expression of a page query into a tree, by precedence climbing. A leaf is a token, with
-- a value if it is a literal; other nodes are calls ("call") with their operands ("of").
create or replace function _pgrag.page_query_expression(
    tokens jsonb,
    is_source boolean,
    inout nth integer,
    out node jsonb,
    strength integer default 0,
    level integer default 0
)
language plpgsql
immutable
parallel safe
as $$
declare
    prefixes constant jsonb := '{"not": 3, "!": 7, "-": 7}';
    strengths constant jsonb := case
        when is_source then '{"or": 1, "and": 2}'
        else '{"or": 1, "and": 2, "=": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5,
            "-": 5, "*": 6, "/": 6, "%": 6}'
    end;
    token jsonb;
    word text;
    is_name boolean;
    is_operand boolean;
    call text;
    -- The operator, the dot or the opening bracket of a call, and the closing bracket.
    sign jsonb;
    closing text;
    operand jsonb;
    operands jsonb[];
    depth integer;
begin
    if level > 40 then
        perform _pgrag.page_query_error(
            tokens -> nth - 1, 'this is nested too deeply',
            'An expression may be nested 40 times.'
        );
    end if;
    loop
        token := tokens -> nth;
        word := token ->> 'word';
        is_name := token ->> 'kind' in ('word', 'command');
        is_operand := node is null;
        operands := array_remove(array[node], null);
        sign := token;
        call := case
            when not is_operand then case when word = '[' then '.' else word end
            when word = '-' then 'minus'
            when word in ('not', '!') then 'not'
            when word = '(' then 'group'
            when word = '[' then 'list'
            when is_name and tokens -> nth + 1 ->> 'word' = '(' then word
        end;
        if is_operand and prefixes ? word
            or not is_operand and (strengths ->> word)::integer > strength
        then
            -- A chain of and, or of or, is one call.
            loop
                select e.nth, e.node into nth, operand
                from _pgrag.page_query_expression(
                    tokens, is_source, nth + 1,
                    (case when is_operand then prefixes else strengths end ->> word)::integer,
                    level + 1
                ) as e;
                operands := operands || operand;
                exit when call not in ('and', 'or') or tokens -> nth ->> 'word' <> call;
            end loop;
        elsif is_operand and call is not null or word = '[' and not is_source then
            nth := nth + is_name::integer;
            sign := tokens -> nth;
            closing := case sign ->> 'word' when '(' then ')' else ']' end;
            loop
                nth := nth + 1;
                exit when operands = '{}' and call <> 'group'
                    and tokens -> nth ->> 'word' = closing;
                select e.nth, e.node into nth, operand
                from _pgrag.page_query_expression(tokens, is_source, nth, 0, level + 1) as e;
                operands := operands || operand;
                word := tokens -> nth ->> 'word';
                exit when word = closing;
                if word <> ',' or call in ('group', '.') then
                    perform _pgrag.page_query_error(
                        tokens -> nth,
                        format(
                            'expected %s for the %s of column %s',
                            closing, sign ->> 'text', sign ->> 'at'
                        )
                    );
                end if;
            end loop;
            nth := nth + 1;
        elsif is_operand and (
            token ? 'value' or is_name and not is_source
            -- The error of outgoing(note) names the whole call.
            or is_name and level > 0 and tokens -> nth - 2 ->> 'word' = 'outgoing'
        ) then
            node := token || jsonb_build_object('is_name', is_name);
            nth := nth + 1;
            continue;
        elsif is_operand and is_source then
            perform _pgrag.page_query_error(
                token, 'expected #tag, "folder", [[note]] or outgoing([[note]])',
                case when is_name then 'Folders stand in double quotes: FROM "guide".' end
            );
        elsif is_operand then
            perform _pgrag.page_query_error(token, 'expected a value, a property or a function');
        elsif word = '.' and not is_source then
            operand := tokens -> nth + 1;
            if operand ->> 'kind' not in ('word', 'command') then
                perform _pgrag.page_query_error(operand, 'expected a name after the dot');
            end if;
            operands := operands
                || (operand || jsonb_build_object('value', operand -> 'text', 'is_name', true));
            nth := nth + 2;
        else
            return;
        end if;

        if call = 'group' then
            node := operands[1];
            continue;
        end if;
        depth := 1 + (select coalesce(max((o ->> 'depth')::integer), 0) from unnest(operands) as o);
        if depth > 40 and strengths || prefixes ? (sign ->> 'word') then
            perform _pgrag.page_query_error(
                sign, 'these are too many operators in a row',
                'Join 30 values at most, or use join(list(…)) and sum(list(…)).'
            );
        elsif depth > 40 then
            perform _pgrag.page_query_error(sign, 'this is nested too deeply');
        end if;
        node := jsonb_build_object(
            'call', call, 'at', case call when '.' then node else token end -> 'at',
            'of', to_jsonb(operands), 'depth', depth
        );
    end loop;
end;
$$;
