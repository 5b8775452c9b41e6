-- The result of a page query function for a value, or for each member of a list. Null if the value
-- has another type than the function takes.
create or replace function _pgrag.page_text_function(
    name text,
    arguments jsonb[]
)
returns jsonb
language plpgsql
stable
parallel unsafe
as $$
declare
    value_at integer := case when name in ('regextest', 'regexmatch') then 2 else 1 end;
    value jsonb := nullif(arguments[value_at], 'null');
    type text := jsonb_typeof(value);
    words text := value #>> '{}';
    other text := nullif(arguments[3 - value_at], 'null') #>> '{}';
    third text := nullif(arguments[3], 'null') #>> '{}';
    start integer;
    stop integer;
    day text;
begin
    if type = 'array' then
        return (
            select jsonb_agg(
                coalesce(
                    _pgrag.page_text_function(
                        name, arguments[:value_at - 1] || m.value || arguments[value_at + 1:]
                    ),
                    'null'
                )
                order by m.nth
            )
            from jsonb_array_elements(value) with ordinality as m (value, nth)
        );
    elsif type = 'object'
        or type <> 'number' and name in ('round', 'floor', 'ceil', 'trunc')
        or name like 'regex%' and not _pgrag.is_pattern(other)
        -- Nested calls could otherwise exhaust memory: the bound is that of bounded_page_value.
        or name in ('replace', 'regexreplace')
            and length(words)::bigint * greatest(length(third), 1) > 10000000
    then
        return null;
    elsif name = 'substring' then
        start := case when other ~ '^\d{1,6}$' then other::integer else 1000000 end;
        stop := case when third ~ '^\d{1,6}$' then third::integer else 1000000 end;
    elsif name in ('date', 'striptime') then
        day := coalesce(
            substring(
                words
                from '^\s*(\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:[Zz]|[+-]\d\d:?\d\d)?)?)\s*$'
            ),
            substring(_pgrag.link_path(value) from '\d{4}-\d\d-\d\d')
        );
        day := case when _pgrag.moment(to_jsonb(day)) is not null then day end;
    end if;
    return case name
        when 'lower' then to_jsonb(lower(words))
        when 'upper' then to_jsonb(upper(words))
        when 'string' then to_jsonb(words)
        when 'startswith' then to_jsonb(starts_with(words, other))
        when 'endswith' then to_jsonb(right(words, length(other)) = other)
        when 'containsword' then to_jsonb(
            strpos(
                ' ' || lower(regexp_replace(words, '[^[:alnum:]_]+', ' ', 'g')) || ' ',
                ' ' || lower(other) || ' '
            ) > 0
        )
        when 'replace' then to_jsonb(replace(words, other, third))
        when 'substring' then to_jsonb(substr(words, start + 1, greatest(stop - start, 0)))
        when 'split' then to_jsonb(string_to_array(words, other))
        when 'regextest' then to_jsonb(words ~ other)
        when 'regexmatch' then to_jsonb(words ~ ('^(?:' || other || ')$'))
        when 'regexreplace' then to_jsonb(
            regexp_replace(words, other, regexp_replace(third, '\$(\d)', '\\\1', 'g'), 'g')
        )
        when 'number' then to_jsonb(substring(words from '-?\d{1,30}(?:\.\d{1,30})?')::numeric)
        when 'round' then to_jsonb(
            round(words::numeric, case when other ~ '^\d{1,2}$' then other::integer else 0 end)
        )
        when 'floor' then to_jsonb(floor(words::numeric))
        when 'ceil' then to_jsonb(ceil(words::numeric))
        when 'trunc' then to_jsonb(trunc(words::numeric))
        when 'date' then to_jsonb(day)
        when 'striptime' then to_jsonb(left(day, 10))
        when 'dur' then case when _pgrag.duration(value) is not null then value end
    end;
end;
$$;

-- Parallel unsafe: catching errors needs a subtransaction, not allowed there up to PostgreSQL 16.
create or replace function _pgrag.is_pattern(
    pattern text
)
returns boolean
language plpgsql
stable
parallel unsafe
as $$
begin
    perform '' ~ pattern;
    return true;
exception
    -- internal_error: the automaton would exceed the largest memory allocation of PostgreSQL.
    when data_exception or program_limit_exceeded or internal_error then
        return false;
end;
$$;
