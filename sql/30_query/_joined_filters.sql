-- One tree of the filters of a query. NOT binds closest, then AND, then OR; filters side by side
-- bind loosest, as they do with words between them: moving a word never changes what is meant.
create or replace function pgrag._joined_filters(
    kinds text[],
    starts integer[],
    filters jsonb[]
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    operands jsonb[] := '{}';
    waiting text[] := '{}';
    depth integer := 0;
    has_left boolean := false;
    state record;
begin
    for place in 1..cardinality(kinds) loop
        if kinds[place] in ('word', 'scope') and depth > 0 then
            perform pgrag._query_error(
                starts[place],
                case kinds[place]
                    when 'word' then 'words and filters cannot share parentheses.'
                    else 'library and version stand outside of parentheses.'
                end,
                null
            );
        elsif kinds[place] in ('word', 'scope', 'nothing') then
            continue;
        end if;
        if has_left and kinds[place] in ('filter', '(', 'not') then
            select s.* into state from pgrag._reduced(operands, waiting, 'both') as s;
            operands := state.operands;
            waiting := array_prepend('both', state.waiting);
        end if;
        case kinds[place]
            when 'filter' then
                operands := filters[place] || operands;
            when '(' then
                depth := depth + 1;
                if depth > 5 then
                    perform pgrag._query_error(
                        starts[place], 'parentheses are nested deeper than 5.', null
                    );
                end if;
                waiting := array_prepend('(', waiting);
            when 'not' then
                waiting := array_prepend('not', waiting);
            else
                select s.* into state from pgrag._reduced(operands, waiting, kinds[place]) as s;
                operands := state.operands;
                waiting := state.waiting;
                if kinds[place] = ')' then
                    depth := depth - 1;
                    waiting := waiting[2:];
                else
                    waiting := array_prepend(kinds[place], waiting);
                end if;
        end case;
        has_left := kinds[place] in ('filter', ')');
    end loop;
    select s.* into state from pgrag._reduced(operands, waiting, ')') as s;
    return pgrag._merged(state.operands[1]);
end;
$$;

-- Applies the operators waiting on top that bind at least as close as the next one.
create or replace function pgrag._reduced(
    inout operands jsonb[],
    inout waiting text[],
    next text
)
returns record
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    closeness constant jsonb := '{")": 0, "both": 1, "or": 2, "and": 3, "not": 4}';
    word text;
begin
    while waiting[1] <> '(' and (closeness -> waiting[1]) >= (closeness -> next) loop
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
end;
$$;

-- {"and": [{"a": 1}, {"b": 2}]} is {"a": 1, "b": 2}, as people write it.
create or replace function pgrag._merged(
    filter jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select case
        when count(distinct member.key) = count(*) and count(*) > 0
        then pg_catalog.jsonb_object_agg(member.key, member.value)
        else _merged.filter
    end
    from pg_catalog.jsonb_array_elements(_merged.filter -> 'and') as element
    cross join lateral pg_catalog.jsonb_each(element) as member
    where member.key is not null;
$$;

-- What is no filter, in its order; what stood without a blank between stays so.
create or replace function pgrag._remaining_words(
    kinds text[],
    texts text[],
    starts integer[]
)
returns text
language sql
immutable
parallel safe
as $$
    select coalesce(
        pg_catalog.string_agg(
            case
                when word.start = word.last_end or word.last_end is null then ''
                else ' '
            end || word.part,
            '' order by word.start
        ),
        ''
    )
    from (
        select
            token.part,
            token.start,
            pg_catalog.lag(token.start + pg_catalog.length(token.part)) over (
                order by token.start
            ) as last_end
        from rows from (
            unnest(_remaining_words.kinds),
            unnest(_remaining_words.texts),
            unnest(_remaining_words.starts)
        ) as token (kind, part, start)
        where token.kind = 'word'
    ) as word;
$$;
