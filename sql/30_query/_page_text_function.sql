-- What a function of queries over pages makes of single values; given a list, it is applied to each
-- of its members. Null where a value is of another type than the function takes.
create or replace function pgrag._page_text_function(
    name text,
    arguments jsonb[]
)
returns jsonb
language plpgsql
stable
parallel unsafe
set search_path from current
as $$
declare
    place integer := case when name in ('regextest', 'regexmatch') then 2 else 1 end;
    value jsonb := nullif(arguments[place], 'null');
    type text := jsonb_typeof(value);
    words text := value #>> '{}';
    other text := nullif(arguments[3 - place], 'null') #>> '{}';
    third text := nullif(arguments[3], 'null') #>> '{}';
    found text;
begin
    if type = 'array' then
        return (
            select jsonb_agg(
                coalesce(
                    pgrag._page_text_function(
                        name, arguments[:place - 1] || m.value || arguments[place + 1:]
                    ),
                    'null'
                )
                order by m.nth
            )
            from jsonb_array_elements(value) with ordinality as m (value, nth)
        );
    elsif value is null or type = 'object' then
        return null;
    elsif name in ('round', 'floor', 'ceil', 'trunc') then
        if type <> 'number' then
            return null;
        end if;
        return to_jsonb(
            case name
                when 'round' then round(
                    value::numeric,
                    case when other ~ '^\d{1,2}$' then other::integer else 0 end
                )
                when 'floor' then floor(value::numeric)
                when 'ceil' then ceil(value::numeric)
                else trunc(value::numeric)
            end
        );
    elsif name = 'startswith' then
        return to_jsonb(starts_with(words, other));
    elsif name = 'endswith' then
        return to_jsonb(right(words, length(other)) = other);
    elsif name = 'containsword' then
        return to_jsonb(
            strpos(
                ' ' || lower(regexp_replace(words, '[^[:alnum:]_]+', ' ', 'g')) || ' ',
                ' ' || lower(other) || ' '
            ) > 0
        );
    elsif name in ('regextest', 'regexmatch') then
        if not pgrag._is_pattern(other) then
            return null;
        end if;
        return to_jsonb(
            words ~ case name when 'regextest' then other else '^(?:' || other || ')$' end
        );
    elsif name in ('date', 'striptime') then
        found := coalesce(
            substring(
                words
                from '^\s*(\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:[Zz]|[+-]\d\d:?\d\d)?)?)\s*$'
            ),
            substring(pgrag._link_path(value) from '\d{4}-\d\d-\d\d')
        );
        if pgrag._moment(to_jsonb(found)) is null then
            return null;
        end if;
        return to_jsonb(case name when 'date' then found else left(found, 10) end);
    elsif name = 'dur' then
        return case when pgrag._duration(value) is not null then value end;
    end if;

    if name = 'lower' then
        found := lower(words);
    elsif name = 'upper' then
        found := upper(words);
    elsif name = 'string' then
        found := words;
    elsif name in ('replace', 'regexreplace')
        -- Calls within calls would make texts that fill the memory.
        and length(words)::bigint * greatest(length(third), 1) > pgrag._longest_page_text()
    then
        return null;
    elsif name = 'replace' then
        found := replace(words, other, third);
    elsif name = 'regexreplace' then
        if pgrag._is_pattern(other) then
            found := regexp_replace(
                words, other, regexp_replace(third, '\$(\d)', '\\\1', 'g'), 'g'
            );
        end if;
    elsif name = 'substring' then
        found := substr(
            words,
            least(pgrag._whole_number(other), 1000000) + 1,
            case
                when cardinality(arguments) = 3
                then greatest(
                    least(pgrag._whole_number(third), 1000000) - pgrag._whole_number(other), 0
                )
                else 1000000
            end
        );
    elsif name = 'split' then
        return to_jsonb(string_to_array(words, other));
    elsif name = 'number' then
        found := substring(words from '-?\d{1,30}(?:\.\d{1,30})?');
        return to_jsonb(found::numeric);
    end if;
    return to_jsonb(found);
end;
$$;

-- Characters of a value that a query makes of others, at most.
create or replace function pgrag._longest_page_text()
returns integer
language sql
immutable
parallel safe
as $$
    select 10000000;
$$;

create or replace function pgrag._whole_number(
    written text
)
returns integer
language sql
immutable
parallel safe
as $$
    select case when _whole_number.written ~ '^\d{1,6}$' then _whole_number.written::integer end;
$$;

-- left OPERATOR right for + - * / %: numbers, dates and durations, else texts by +. Null where the
-- types do not fit, and where a result would be out of all bounds.
create or replace function pgrag._page_value_operation(
    operator text,
    left_value jsonb,
    right_value jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    left_type text := pgrag._page_value_type(left_value);
    right_type text := pgrag._page_value_type(right_value);
    number numeric;
    moment timestamp;
    span interval;
begin
    if left_type = 'number' and right_type = 'number' then
        if abs(left_value::numeric) > 1e300 or abs(right_value::numeric) > 1e300 then
            return null;
        end if;
        number := case operator
            when '+' then left_value::numeric + right_value::numeric
            when '-' then left_value::numeric - right_value::numeric
            when '*' then left_value::numeric * right_value::numeric
            when '/' then left_value::numeric / nullif(right_value::numeric, 0)
            else left_value::numeric % nullif(right_value::numeric, 0)
        end;
        return to_jsonb(trim_scale(round(number, 20)));
    elsif left_type = 'date' and right_type = 'duration' and operator in ('+', '-')
        or left_type = 'duration' and right_type = 'date' and operator = '+'
    then
        moment := pgrag._moment(case left_type when 'date' then left_value else right_value end);
        span := pgrag._duration(case left_type when 'date' then right_value else left_value end);
        if extract(epoch from span) > 3e10 then
            return null;
        end if;
        moment := case operator when '+' then moment + span else moment - span end;
        return case
            when extract(year from moment) between 1 and 9999
            then pgrag._moment_text(moment)
        end;
    elsif left_type = 'date' and right_type = 'date' and operator = '-' then
        return pgrag._duration_text(
            extract(epoch from pgrag._moment(left_value) - pgrag._moment(right_value))
        );
    elsif left_type = 'duration' and right_type = 'duration' and operator in ('+', '-') then
        span := pgrag._duration(left_value);
        return pgrag._duration_text(
            extract(epoch from span)
            + case operator when '+' then 1 else -1 end
            * extract(epoch from pgrag._duration(right_value))
        );
    elsif operator = '+' and (left_type in ('string', 'link') or right_type in ('string', 'link'))
    then
        return pgrag._bounded_page_value(
            to_jsonb(coalesce(left_value #>> '{}', '') || coalesce(right_value #>> '{}', ''))
        );
    elsif operator = '+' and left_type = 'array' and right_type = 'array' then
        return pgrag._bounded_page_value(left_value || right_value);
    end if;
    return null;
end;
$$;

-- Made of itself again and again, a value would fill the memory.
create or replace function pgrag._bounded_page_value(
    value jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.length(_bounded_page_value.value::text) <= pgrag._longest_page_text()
        then _bounded_page_value.value
    end;
$$;

create or replace function pgrag._moment_text(
    moment timestamp
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select to_jsonb(
        case
            when _moment_text.moment = pg_catalog.date_trunc('day', _moment_text.moment)
            then pg_catalog.to_char(_moment_text.moment, 'YYYY-MM-DD')
            else pg_catalog.to_char(_moment_text.moment, 'YYYY-MM-DD"T"HH24:MI:SS')
        end
    );
$$;

-- Days, and the rest of the last in hours, minutes and seconds; a span backwards as none at all.
create or replace function pgrag._duration_text(
    seconds numeric
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select to_jsonb(
        coalesce(
            pg_catalog.string_agg(
                part.count || ' ' || part.unit || case when part.count = 1 then '' else 's' end,
                ', ' order by part.size desc
            ) filter (where part.count > 0),
            '0 seconds'
        )
    )
    from (
        select
            u.unit, u.size, pg_catalog.trunc(
                greatest(_duration_text.seconds, 0) % u.whole / u.size
            ) as count
        from (
            values
                ('day', 86400, 1e15), ('hour', 3600, 86400), ('minute', 60, 3600), ('second', 1, 60)
        ) as u (unit, size, whole)
    ) as part;
$$;
