-- Turns the values of a field into a filter: equal to one of them, a pattern with *, or a range.
create or replace function _pgrag.query_condition(
    field text,
    kind text,
    operator text,
    operands jsonb,
    start integer
)
returns jsonb
language plpgsql
immutable
parallel safe
as $$
declare
    is_equality boolean := operator in ('', '=', '!=');
    choices jsonb := '[]';
    others jsonb := '[]';
    text_value text;
    is_plain boolean;
    operand jsonb;
    bounds jsonb;
begin
    if jsonb_array_length(operands) > 1
        and (not is_equality or field in ('version', 'depth_min', 'depth_max'))
    then
        perform _pgrag.query_error(
            start, format('%s takes one value here.', field),
            'A list means any of its members, and is for "equal" only; version:* is every version.'
        );
    end if;
    for operand in select o from jsonb_array_elements(operands) as o loop
        text_value := operand ->> 0;
        -- Quoted values are taken literally.
        is_plain := (operand ->> 1)::boolean or kind in ('scope', 'page');
        if not is_equality then
            return jsonb_build_object(
                field,
                jsonb_build_object(
                    operator,
                    case
                        when kind = 'json' and not is_plain then _pgrag.query_scalar(text_value)
                        else to_jsonb(text_value)
                    end
                )
            );
        elsif not is_plain and text_value = '*' then
            others := others || jsonb_build_object(field, '{"exists": true}'::jsonb);
        elsif not is_plain and kind in ('text', 'json') and strpos(text_value, '*') > 0 then
            others := others || jsonb_build_object(
                field,
                jsonb_build_object(
                    'like', replace(regexp_replace(text_value, '([\\%_])', '\\\1', 'g'), '*', '%')
                )
            );
        elsif not is_plain and strpos(text_value, '..') > 0
            and (
                kind in ('time', 'number')
                or kind = 'json' and text_value ~ '^(-?\d[\d.T:Z+-]*)?\.\.(-?\d[\d.T:Z+-]*)?$'
            )
        then
            select jsonb_object_agg(
                b.operator,
                case kind when 'json' then _pgrag.query_scalar(b.value) else to_jsonb(b.value) end
            )
            into bounds
            from (
                values
                    ('>=', substring(text_value from '^(.*?)\.\.')),
                    ('<=', substring(text_value from '\.\.(.*)$'))
            ) as b (operator, value)
            where b.value <> '';
            if bounds is null then
                perform _pgrag.query_error(
                    start, 'a range needs a value on at least one side.',
                    format('Write %s:A..B.', field)
                );
            end if;
            others := others || jsonb_build_object(field, bounds);
        elsif kind = 'json' and not is_plain
            and _pgrag.query_scalar(text_value) <> to_jsonb(text_value)
        then
            -- Front matter is typed, and a user cannot know the type: try both.
            choices := choices || jsonb_build_array(_pgrag.query_scalar(text_value), text_value);
        elsif not is_plain and kind in ('list', 'path', 'links') and strpos(text_value, '*') > 0
        then
            perform _pgrag.query_error(
                start, format('%s takes no pattern, got %s.', field, text_value),
                format('Write the whole name, or %s:"%s".', field, text_value)
            );
        else
            choices := choices || jsonb_build_array(text_value);
        end if;
    end loop;

    if choices <> '[]' then
        others := others || jsonb_build_object(
            field,
            case
                when jsonb_array_length(choices) = 1 then choices -> 0
                -- A plain list would mean a single path.
                when kind = 'path' then jsonb_build_object('in', choices)
                else choices
            end
        );
    end if;
    return case
        when jsonb_array_length(others) = 1 then others -> 0
        else jsonb_build_object('or', others)
    end;
end;
$$;

-- An unquoted value of the front matter, with the type that it looks like.
create or replace function _pgrag.query_scalar(
    value text
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select case
        when query_scalar.value ~ '^-?(0|[1-9]\d{0,17})(\.\d{1,18})?$'
            or query_scalar.value in ('true', 'false', 'null')
        then query_scalar.value::jsonb
        else pg_catalog.to_jsonb(query_scalar.value)
    end;
$$;
