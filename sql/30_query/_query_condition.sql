-- The values of a field as a filter: equal to one of them, like a pattern with *, within a range.
create or replace function pgrag._query_condition(
    field text,
    kind text,
    operator text,
    given jsonb,
    start integer
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    is_equality boolean := operator in ('', '=', '!=');
    choices jsonb := '[]';
    others jsonb := '[]';
    text_value text;
    is_plain boolean;
    found jsonb;
begin
    if jsonb_array_length(given) > 1
        and (not is_equality or field in ('version', 'depth_min', 'depth_max'))
    then
        perform pgrag._query_error(
            start, format('%s takes one value here.', field),
            'A list means any of its members, and is for "equal" only; version:* is every version.'
        );
    end if;
    for found in select g from jsonb_array_elements(given) as g loop
        text_value := found ->> 0;
        -- Quoted values are what they are.
        is_plain := (found ->> 1)::boolean or kind in ('scope', 'page');
        if not is_equality then
            return jsonb_build_object(
                field,
                jsonb_build_object(
                    operator,
                    case
                        when kind = 'json' and not is_plain then pgrag._query_scalar(text_value)
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
            others := others || pgrag._query_range(field, kind, text_value, start);
        elsif kind = 'json' and not is_plain
            and pgrag._query_scalar(text_value) <> to_jsonb(text_value)
        then
            -- Front matter keeps types, and nobody who searches knows them.
            choices := choices || jsonb_build_array(pgrag._query_scalar(text_value), text_value);
        elsif not is_plain and kind in ('list', 'path', 'links') and strpos(text_value, '*') > 0
        then
            perform pgrag._query_error(
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
                -- A list would be one path.
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

create or replace function pgrag._query_range(
    field text,
    kind text,
    value text,
    start integer
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    ends text[] := regexp_match(value, '^(.*?)\.\.(.*)$');
    range jsonb;
begin
    select jsonb_object_agg(
        e.operator,
        case kind when 'json' then pgrag._query_scalar(e.value) else to_jsonb(e.value) end
    )
    into range
    from (values ('>=', ends[1]), ('<=', ends[2])) as e (operator, value)
    where e.value <> '';
    if range is null then
        perform pgrag._query_error(
            start, 'a range needs a value on at least one side.', format('Write %s:A..B.', field)
        );
    end if;
    return jsonb_build_object(field, range);
end;
$$;

-- An unquoted value of the front matter as what it looks like.
create or replace function pgrag._query_scalar(
    value text
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select case
        when _query_scalar.value ~ '^-?(0|[1-9]\d{0,17})(\.\d{1,18})?$'
            or _query_scalar.value in ('true', 'false', 'null')
        then _query_scalar.value::jsonb
        else pg_catalog.to_jsonb(_query_scalar.value)
    end;
$$;
