-- Joins the filters of a query into one tree. NOT binds closest, then AND, then OR. Adjacent
-- filters bind loosest, also with words between them: moving a word never changes the meaning.
create or replace function _pgrag.joined_filters(
    kinds text[],
    starts integer[],
    filters jsonb[]
)
returns jsonb
language plpgsql
immutable
parallel safe
as $$
declare
    closeness constant jsonb := '{"end": 0, ")": 0, "both": 1, "or": 2, "and": 3, "not": 4}';
    operands jsonb[] := '{}';
    waiting text[] := '{}';
    has_left boolean := false;
    kind text;
    -- The operator between the left operand and the current token.
    joint text;
    word text;
begin
    for nth in 1..cardinality(kinds) + 1 loop
        kind := coalesce(kinds[nth], 'end');
        if kind in ('word', 'scope') and '(' = any (waiting) then
            perform _pgrag.query_error(
                starts[nth],
                case kind
                    when 'word' then 'words and filters cannot share parentheses.'
                    else 'library and version stand outside of parentheses.'
                end
            );
        elsif kind in ('word', 'scope', 'nothing') then
            continue;
        end if;
        joint := case
            when kind not in ('filter', '(', 'not') then kind
            when has_left then 'both'
        end;
        -- Pending operators that bind at least as closely now have all their operands.
        while waiting[1] <> '(' and closeness -> waiting[1] >= closeness -> joint loop
            word := case waiting[1] when 'both' then 'and' else waiting[1] end;
            if word = 'not' then
                operands := coalesce(
                    operands[1] -> 'not', jsonb_build_object('not', operands[1])
                ) || operands[2:];
            else
                operands := jsonb_build_object(
                    word,
                    coalesce(operands[2] -> word, jsonb_build_array(operands[2]))
                        || coalesce(operands[1] -> word, jsonb_build_array(operands[1]))
                ) || operands[3:];
            end if;
            waiting := waiting[2:];
        end loop;
        if kind = ')' then
            waiting := waiting[2:];
        elsif joint is not null then
            waiting := array_prepend(joint, waiting);
        end if;
        if kind = 'filter' then
            operands := filters[nth] || operands;
        elsif kind in ('(', 'not') then
            waiting := array_prepend(kind, waiting);
        end if;
        if cardinality(array_positions(waiting, '(')) > 5 then
            perform _pgrag.query_error(starts[nth], 'parentheses are nested deeper than 5.');
        end if;
        has_left := kind in ('filter', ')');
    end loop;
    -- {"and": [{"a": 1}, {"b": 2}]} becomes {"a": 1, "b": 2}.
    return (
        select case
            when count(distinct member.key) = count(*) and count(*) > 0
            then jsonb_object_agg(member.key, member.value)
            else operands[1]
        end
        from jsonb_array_elements(operands[1] -> 'and') as element
        cross join lateral jsonb_each(element) as member
    );
end;
$$;
