-- + - * / % of numbers, dates and durations; + also joins texts and lists. Null if the types do not
-- fit or the result is out of bounds.
create or replace function _pgrag.page_value_operation(
    operator text,
    left_value jsonb,
    right_value jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
as $$
declare
    left_key record := _pgrag.page_value_key(left_value);
    right_key record := _pgrag.page_value_key(right_value);
    types text[] := array[left_key.type, right_key.type];
    moment timestamp;
    span interval;
    seconds numeric;
begin
    if types = '{number,number}' and greatest(abs(left_key.number), abs(right_key.number)) <= 1e300
    then
        return to_jsonb(trim_scale(round(
            case operator
                when '+' then left_key.number + right_key.number
                when '-' then left_key.number - right_key.number
                when '*' then left_key.number * right_key.number
                when '/' then left_key.number / nullif(right_key.number, 0)
                else left_key.number % nullif(right_key.number, 0)
            end,
            20
        )));
    elsif types = '{date,duration}' and operator in ('+', '-')
        or types = '{duration,date}' and operator = '+'
    then
        moment := coalesce(_pgrag.moment(left_value), _pgrag.moment(right_value));
        span := coalesce(_pgrag.duration(left_value), _pgrag.duration(right_value));
        if extract(epoch from span) <= 3e10 then
            moment := case operator when '+' then moment + span else moment - span end;
            return case
                when extract(year from moment) between 1 and 9999 then _pgrag.moment_text(moment)
            end;
        end if;
    elsif types = '{duration,duration}' and operator in ('+', '-')
        or types = '{date,date}' and operator = '-'
    then
        seconds := case operator
            when '+' then left_key.number + right_key.number
            else left_key.number - right_key.number
        end;
        -- As days, hours, minutes and seconds; a negative duration becomes 0 seconds.
        return (
            select to_jsonb(
                coalesce(
                    string_agg(
                        concat(part.count, ' ', part.unit, case when part.count <> 1 then 's' end),
                        ', ' order by part.size desc
                    ) filter (where part.count > 0),
                    '0 seconds'
                )
            )
            from (
                select
                    u.unit, u.size, trunc(greatest(seconds, 0) % u.whole / u.size) as count
                from (
                    values
                        ('day', 86400, 1e15), ('hour', 3600, 86400), ('minute', 60, 3600),
                        ('second', 1, 60)
                ) as u (unit, size, whole)
            ) as part
        );
    elsif operator = '+' and types && '{string,link}' then
        return _pgrag.bounded_page_value(
            to_jsonb(concat(left_value #>> '{}', right_value #>> '{}'))
        );
    elsif operator = '+' and types = '{array,array}' then
        return _pgrag.bounded_page_value(left_value || right_value);
    end if;
    return null;
end;
$$;

-- Null for more than 10,000,000 characters: a value joined to itself could exhaust memory.
create or replace function _pgrag.bounded_page_value(
    value jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.length(bounded_page_value.value::text) <= 10000000
        then bounded_page_value.value
    end;
$$;

create or replace function _pgrag.moment_text(
    moment timestamp
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select to_jsonb(
        pg_catalog.replace(
            pg_catalog.to_char(moment_text.moment, 'YYYY-MM-DD"T"HH24:MI:SS'), 'T00:00:00', ''
        )
    );
$$;
