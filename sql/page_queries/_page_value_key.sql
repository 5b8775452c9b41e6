-- The sort key of values of any type: type, then number, then text. Values are jsonb; as in front
-- matter, a text in the form of a date, a duration or a [[link]] has that type.
create or replace function _pgrag.page_value_key(
    value jsonb,
    out type text,
    out rank integer,
    out number numeric,
    out words text
)
language plpgsql
immutable
parallel safe
as $$
declare
    written text := value #>> '{}';
begin
    type := coalesce(jsonb_typeof(value), 'null');
    if type = 'string' and written ~ '^(\d|!?\[\[)' and length(written) <= 500 then
        type := case
            when written ~ '^!?\[\[[^][]+\]\]$' then 'link'
            when _pgrag.moment(value) is not null then 'date'
            when _pgrag.duration(value) is not null then 'duration'
            else 'string'
        end;
    end if;
    rank := array_position(
        '{"null",array,boolean,date,duration,link,number,object,string}', type
    );
    number := case type
        when 'number' then value::numeric
        when 'boolean' then value::boolean::integer
        when 'date' then extract(epoch from _pgrag.moment(value))
        when 'duration' then extract(epoch from _pgrag.duration(value))
        else 0
    end;
    words := case
        when type = 'string' then lower(written) || E'\n' || written
        when type = 'link' then _pgrag.link_path(value)
        when type in ('array', 'object') then written
        else ''
    end;
end;
$$;

-- Returns -1, 0 or 1. Texts are compared case-insensitively first; [[note]] and
-- [[folder/note|words]] name the same page.
create or replace function _pgrag.compare_page_values(
    left_value jsonb,
    right_value jsonb
)
returns integer
language plpgsql
immutable
parallel safe
as $$
declare
    types text[] := array[jsonb_typeof(left_value), jsonb_typeof(right_value)];
    left_key record;
    right_key record;
begin
    if coalesce(left_value, 'null') = coalesce(right_value, 'null') then
        return 0;
    elsif types = '{number,number}' then
        return sign(left_value::numeric - right_value::numeric);
    elsif types = '{string,string}' and left_value #>> '{}' ~ '^[[:alpha:]]'
        and right_value #>> '{}' ~ '^[[:alpha:]]'
    then
        -- Neither value is a date, a duration or a link.
        return case
            when (lower(left_value #>> '{}') collate "C", left_value #>> '{}' collate "C")
                < (lower(right_value #>> '{}') collate "C", right_value #>> '{}' collate "C")
            then -1
            else 1
        end;
    end if;
    left_key := _pgrag.page_value_key(left_value);
    right_key := _pgrag.page_value_key(right_value);
    return case
        when left_key = right_key or left_key.type = 'link' and right_key.type = 'link' and (
            right('/' || left_key.words, length(right_key.words) + 1) = '/' || right_key.words
            or right('/' || right_key.words, length(left_key.words) + 1) = '/' || left_key.words
        )
        then 0
        when (left_key.rank, left_key.number, left_key.words collate "C")
            < (right_key.rank, right_key.number, right_key.words collate "C")
        then -1
        else 1
    end;
end;
$$;

-- Whether a value counts as true: all but null, false, 0 and empty values.
create or replace function _pgrag.is_page_value_true(
    value jsonb
)
returns boolean
language sql
immutable
parallel safe
as $$
    select coalesce(
        is_page_value_true.value not in ('null', 'false', '0', '""', '[]', '{}'), false
    );
$$;

-- A date as a timestamp without time zone (in UTC if the text names a zone); null for no date.
create or replace function _pgrag.moment(
    value jsonb
)
returns timestamp
language plpgsql
immutable
parallel safe
as $$
declare
    written text := case when jsonb_typeof(value) = 'string' then value #>> '{}' end;
begin
    if written !~ '^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)?)?$'
        is not false
        or not pg_input_is_valid(written, 'timestamptz')
    then
        return null;
    elsif written ~ '[T ].*[Zz+-]' then
        return written::timestamptz at time zone 'UTC';
    end if;
    return written::timestamp;
end;
$$;

create or replace function _pgrag.duration(
    value jsonb
)
returns interval
language plpgsql
immutable
parallel safe
as $$
declare
    written text := case when jsonb_typeof(value) = 'string' then value #>> '{}' end;
begin
    if length(written) > 200 or written !~ (
        '^(\d{1,6}(\.\d{1,6})?\s*(years?|yrs?|months?|mos?|weeks?|wks?|w|days?|d|hours?|hrs?|h'
        || '|minutes?|mins?|m|seconds?|secs?|s)(?![[:alpha:]])\s*,?\s*)+$'
    ) is not false then
        return null;
    end if;
    -- PostgreSQL does not know the units mo and wk.
    written := regexp_replace(replace(written, ',', ' '), 'mos?(?![[:alpha:]])', 'months', 'g');
    written := regexp_replace(written, 'wks?(?![[:alpha:]])', 'weeks', 'g');
    return case when pg_input_is_valid(written, 'interval') then written::interval end;
end;
$$;

-- The path in a [[link]], in lower case, without suffix, fragment and words.
create or replace function _pgrag.link_path(
    link jsonb
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.lower(
        pg_catalog.regexp_replace(
            pg_catalog.btrim(
                pg_catalog.regexp_replace(
                    link_path.link #>> '{}', '^!?\[\[|[|#].*$|\]\]$', '', 'g'
                ),
                ' /'
            ),
            '\.(md|mdx|markdown)$', '', 'i'
        )
    );
$$;

-- A member of an object, a date or a duration; for a list, the member of each element.
create or replace function _pgrag.page_value_member(
    value jsonb,
    name text
)
returns jsonb
language plpgsql
immutable
parallel safe
as $$
declare
    type text := jsonb_typeof(value);
    member jsonb;
begin
    if type = 'object' then
        member := value -> name;
        if member is null then
            member := (
                select m.value
                from jsonb_each(value) as m
                where _pgrag.property_name(m.key) = _pgrag.property_name(name)
                order by m.key
                limit 1
            );
        end if;
    elsif type = 'array' and name ~ '^\d{1,6}$' then
        member := value -> name::integer;
    elsif type = 'array' then
        member := (
            select jsonb_agg(
                coalesce(_pgrag.page_value_member(m.value, name), 'null') order by m.nth
            )
            from jsonb_array_elements(value) with ordinality as m (value, nth)
        );
    elsif name in ('years', 'months', 'days', 'hours', 'minutes', 'seconds') then
        member := to_jsonb(trunc(extract(epoch from _pgrag.duration(value)) / case name
            when 'years' then 31536000 when 'months' then 2592000 when 'days' then 86400
            when 'hours' then 3600 when 'minutes' then 60 else 1
        end));
    elsif name in (
        'year', 'month', 'day', 'hour', 'minute', 'second', 'week', 'weekyear', 'weekday'
    ) then
        member := to_jsonb(trunc(date_part(
            case name when 'weekyear' then 'isoyear' when 'weekday' then 'isodow' else name end,
            _pgrag.moment(value)
        )));
    end if;
    return nullif(member, 'null');
end;
$$;

-- The simple form of a property's name, which a query may use: due-on for "Due on!".
create or replace function _pgrag.property_name(
    key text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.translate(property_name.key, '-_abcdefghijklmnopqrstuvwxyz', '') = ''
        then property_name.key
        else pg_catalog.regexp_replace(
            pg_catalog.regexp_replace(
                pg_catalog.lower(pg_catalog.btrim(property_name.key)), '\s+', '-', 'g'
            ),
            '[]\s"''`#()\[{}<>=!,.+*/%&|;:?@\\^~$]+', '', 'g'
        )
    end;
$$;
