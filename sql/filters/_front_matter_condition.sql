-- Front matter is compared by type: numbers as numbers, text as text (as ISO dates sort), a list by
-- its members.
create or replace function _pgrag.front_matter_condition(
    field text,
    expression text,
    operator text,
    operand jsonb
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    members constant jsonb := case
        when jsonb_typeof(operand) = 'array' then operand
        else jsonb_build_array(operand)
    end;
    -- {a,b} and {"a":{"b": for front_matter.a.b.
    names constant text[] := string_to_array(substr(field, length('front_matter.') + 1), '.');
    opening text;
    closing text;
begin
    if operator in ('=', 'all') then
        select string_agg(format('{%s:', to_jsonb(n)), ''), repeat('}', count(*)::integer)
        into opening, closing
        from unnest(names) as n;
        return coalesce(
            (
                select '(' || string_agg(
                    case jsonb_typeof(member)
                        when 'string' then format(
                            'p.front_matter @? %L::jsonpath',
                            format(
                                '$%s ? (@ like_regex %s flag "i")',
                                (
                                    select string_agg('.' || to_jsonb(n)::text, '')
                                    from unnest(names) as n
                                ),
                                to_jsonb('^' || _pgrag.escaped(member #>> '{}') || '$')
                            )
                        )
                        else format(
                            '(p.front_matter @> %L::jsonb or p.front_matter @> %L::jsonb)',
                            concat(opening, member, closing)::jsonb,
                            concat(opening, jsonb_build_array(member), closing)::jsonb
                        )
                    end,
                    ' and '
                ) || ')'
                from jsonb_array_elements(members) as member
            ),
            'false'
        );
    elsif jsonb_typeof(operand) = 'number' and operator <> 'like' then
        return format(
            'case when jsonb_typeof(%1$s) = ''number'''
            ' then (%1$s)::numeric %2$s %3$L::numeric end', expression, operator, operand
        );
    end if;
    return format(
        case operator
            when 'like' then '(%1$s #>> ''{}'') ilike %3$L'
            else '(%1$s #>> ''{}'') collate "C" %2$s %3$L'
        end,
        expression, operator, operand #>> '{}'
    );
end;
$$;
