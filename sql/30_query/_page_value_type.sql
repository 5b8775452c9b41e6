-- Values of properties are jsonb. As in front matter, a text that is written as a date, a duration
-- or a [[link]] is one, wherever it stands; null is less than anything.
create or replace function pgrag._page_value_type(
    value jsonb
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    type text := jsonb_typeof(value);
    written text;
begin
    if type is null or type <> 'string' then
        return coalesce(type, 'null');
    end if;
    written := value #>> '{}';
    if length(written) > 500 then
        return 'string';
    elsif written ~ '^\d' then
        if pgrag._moment(value) is not null then
            return 'date';
        elsif pgrag._duration(value) is not null then
            return 'duration';
        end if;
    elsif written ~ '^!?\[\[[^][]+\]\]$' then
        return 'link';
    end if;
    return 'string';
end;
$$;

-- A date as a point in time without zone (in UTC where it names one); null if it is none.
create or replace function pgrag._moment(
    value jsonb
)
returns timestamp
language plpgsql
immutable
parallel safe
set search_path from current
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

create or replace function pgrag._duration(
    value jsonb
)
returns interval
language plpgsql
immutable
parallel safe
set search_path from current
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
    written := replace(written, ',', ' ');
    written := regexp_replace(written, '(\d)\s*mos?(?![[:alpha:]])', '\1 months', 'g');
    written := regexp_replace(written, '(\d)\s*(wks?|w)(?![[:alpha:]])', '\1 weeks', 'g');
    written := regexp_replace(written, '(\d)\s*m(?![[:alpha:]])', '\1 minutes', 'g');
    return case when pg_input_is_valid(written, 'interval') then written::interval end;
end;
$$;

-- By what values of all types are sorted: their type, then their number, then their text.
create or replace function pgrag._page_value_key(
    value jsonb,
    out rank integer,
    out number numeric,
    out words text
)
returns record
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    type text;
begin
    if jsonb_typeof(value) = 'string' and value #>> '{}' ~ '^[[:alpha:]]' then
        rank := 9;
        number := 0;
        words := lower(value #>> '{}') || E'\n' || (value #>> '{}');
        return;
    end if;
    type := pgrag._page_value_type(value);
    rank := array_position(
        '{"null",array,boolean,date,duration,link,number,object,string}', type
    );
    number := case type
        when 'number' then value::numeric
        when 'boolean' then value::boolean::integer
        when 'date' then extract(epoch from pgrag._moment(value))
        when 'duration' then extract(epoch from pgrag._duration(value))
        else 0
    end;
    words := case
        when type = 'string' then lower(value #>> '{}') || E'\n' || (value #>> '{}')
        when type = 'link' then pgrag._link_path(value)
        when type in ('array', 'object') then value::text
        else ''
    end;
end;
$$;

-- -1, 0 or 1. Texts are compared without regard to case first.
create or replace function pgrag._compare_page_values(
    left_value jsonb,
    right_value jsonb
)
returns integer
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    left_key record;
    right_key record;
begin
    if jsonb_typeof(left_value) = 'number' and jsonb_typeof(right_value) = 'number' then
        return case
            when left_value < right_value then -1
            when left_value = right_value then 0
            else 1
        end;
    elsif pgrag._same_page_value(left_value, right_value) then
        return 0;
    elsif left_value #>> '{}' ~ '^[[:alpha:]]' and right_value #>> '{}' ~ '^[[:alpha:]]'
        and jsonb_typeof(left_value) = 'string' and jsonb_typeof(right_value) = 'string'
    then
        -- Neither is a date, a duration or a link.
        return case
            when (lower(left_value #>> '{}') collate "C", left_value #>> '{}' collate "C")
                < (lower(right_value #>> '{}') collate "C", right_value #>> '{}' collate "C")
            then -1
            else 1
        end;
    end if;
    left_key := pgrag._page_value_key(left_value);
    right_key := pgrag._page_value_key(right_value);
    return case
        when (left_key.rank, left_key.number, left_key.words collate "C")
            < (right_key.rank, right_key.number, right_key.words collate "C")
        then -1
        else 1
    end;
end;
$$;

create or replace function pgrag._same_page_value(
    left_value jsonb,
    right_value jsonb
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    type text;
    left_link text;
    right_link text;
begin
    if left_value is null or right_value is null or left_value = right_value then
        return coalesce(left_value, 'null') = coalesce(right_value, 'null');
    elsif jsonb_typeof(left_value) <> 'string' or jsonb_typeof(right_value) <> 'string' then
        return false;
    end if;
    type := pgrag._page_value_type(left_value);
    if type = 'string' or type <> pgrag._page_value_type(right_value) then
        return false;
    elsif type = 'date' then
        return pgrag._moment(left_value) = pgrag._moment(right_value);
    elsif type = 'duration' then
        return pgrag._duration(left_value) = pgrag._duration(right_value);
    end if;
    -- [[note]] and [[folder/note|words]] name one page.
    left_link := '/' || pgrag._link_path(left_value);
    right_link := '/' || pgrag._link_path(right_value);
    return right(left_link, length(right_link)) = right_link
        or right(right_link, length(left_link)) = left_link;
end;
$$;

-- The page that a [[link]] names, in lower case, without suffix, fragment and words.
create or replace function pgrag._link_path(
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
                    _link_path.link #>> '{}', '^!?\[\[|[|#].*$|\]\]$', '', 'g'
                ),
                ' /'
            ),
            '\.(md|mdx|markdown)$', '', 'i'
        )
    );
$$;

-- Whether a value counts as yes: all but null, false, 0 and what is empty.
create or replace function pgrag._is_page_value_true(
    value jsonb
)
returns boolean
language sql
immutable
parallel safe
as $$
    select coalesce(
        _is_page_value_true.value not in ('null', 'false', '0', '""', '[]', '{}'), false
    );
$$;

-- A member of an object, of a date or a duration; of a list, that of each of its members.
create or replace function pgrag._page_value_member(
    value jsonb,
    name text
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
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
                where pgrag._property_name(m.key) = pgrag._property_name(name)
                order by m.key
                limit 1
            );
        end if;
    elsif type = 'array' and name ~ '^\d{1,6}$' then
        member := value -> name::integer;
    elsif type = 'array' then
        member := (
            select jsonb_agg(
                coalesce(pgrag._page_value_member(m.value, name), 'null') order by m.nth
            )
            from jsonb_array_elements(value) with ordinality as m (value, nth)
        );
    elsif type = 'string' then
        if name in ('year', 'month', 'day', 'hour', 'minute', 'second', 'week', 'weekyear') then
            member := to_jsonb(
                trunc(
                    date_part(
                        case name when 'weekyear' then 'isoyear' else name end,
                        pgrag._moment(value)
                    )
                )
            );
        elsif name = 'weekday' then
            member := to_jsonb(extract(isodow from pgrag._moment(value)));
        elsif name in ('years', 'months', 'days', 'hours', 'minutes', 'seconds') then
            member := to_jsonb(trunc(extract(epoch from pgrag._duration(value)) / case name
                when 'years' then 31536000 when 'months' then 2592000 when 'days' then 86400
                when 'hours' then 3600 when 'minutes' then 60 else 1
            end));
        end if;
    end if;
    return nullif(member, 'null');
end;
$$;

-- The simple form of a property's name, by which a query may call it: Due on! is due-on.
create or replace function pgrag._property_name(
    key text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.translate(_property_name.key, '-_abcdefghijklmnopqrstuvwxyz', '') = ''
        then _property_name.key
        else pg_catalog.regexp_replace(
            pg_catalog.regexp_replace(
                pg_catalog.lower(pg_catalog.btrim(_property_name.key)), '\s+', '-', 'g'
            ),
            '[]\s"''`#()\[{}<>=!,.+*/%&|;:?@\\^~$]+', '', 'g'
        )
    end;
$$;
