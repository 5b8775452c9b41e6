-- What a function of queries over pages makes of values of any type, lists among them.
create or replace function pgrag._page_list_function(
    name text,
    arguments jsonb[]
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    value jsonb := nullif(arguments[1], 'null');
    type text := jsonb_typeof(value);
    members jsonb;
begin
    case name
        when 'contains', 'icontains', 'econtains' then
            return to_jsonb(pgrag._page_value_contains(value, arguments[2], name = 'icontains'));
        when 'default' then
            return coalesce(value, arguments[2]);
        when 'choice' then
            return case
                when pgrag._is_page_value_true(value) then arguments[2] else arguments[3]
            end;
        when 'length' then
            return to_jsonb(
                case type
                    when 'array' then jsonb_array_length(value)
                    when 'object' then (select count(*) from jsonb_object_keys(value))
                    when 'string' then length(value #>> '{}')
                    else coalesce(length(value::text), 0)
                end
            );
        when 'typeof' then
            return to_jsonb(pgrag._page_value_type(value));
        when 'link' then
            return to_jsonb(
                '[[' || concat_ws('|', value #>> '{}', nullif(arguments[2], 'null') #>> '{}')
                || ']]'
            );
        when 'list', 'array' then
            return pgrag._bounded_page_value(to_jsonb(arguments));
        when 'join' then
            return pgrag._bounded_page_value(to_jsonb(
                case
                    when type = 'array' then (
                        select coalesce(
                            string_agg(
                                m.value #>> '{}',
                                coalesce(arguments[2] #>> '{}', ', ') order by m.place
                            ),
                            ''
                        )
                        from jsonb_array_elements(value) with ordinality as m (value, place)
                    )
                    else coalesce(value #>> '{}', '')
                end
            ));
        else
            null;
    end case;

    members := case
        when cardinality(arguments) = 1 and type = 'array' then value
        when cardinality(arguments) = 1 and value is null then '[]'
        else to_jsonb(arguments)
    end;
    case name
        when 'all', 'none', 'any' then
            return (
                select to_jsonb(
                    case name
                        when 'all' then count(*) filter (where not t.is_true) = 0
                        when 'none' then count(*) filter (where t.is_true) = 0
                        else count(*) filter (where t.is_true) > 0
                    end
                )
                from (
                    select pgrag._is_page_value_true(m) as is_true
                    from jsonb_array_elements(members) as m
                ) as t
            );
        when 'sum', 'average' then
            return (
                select to_jsonb(
                    trim_scale(case name when 'sum' then sum(n.number) else avg(n.number) end)
                )
                from (
                    select m::numeric as number
                    from jsonb_array_elements(members) as m
                    where jsonb_typeof(m) = 'number'
                ) as n
            );
        when 'nonnull' then
            return (
                select coalesce(jsonb_agg(m.value order by m.place), '[]')
                from jsonb_array_elements(members) with ordinality as m (value, place)
                where m.value <> 'null'
            );
        when 'reverse' then
            return (
                select coalesce(jsonb_agg(m.value order by m.place desc), '[]')
                from jsonb_array_elements(members) with ordinality as m (value, place)
            );
        when 'flat' then
            return (
                select coalesce(jsonb_agg(below.value order by m.place, below.place), '[]')
                from jsonb_array_elements(members) with ordinality as m (value, place)
                cross join jsonb_array_elements(
                    case
                        when jsonb_typeof(m.value) = 'array' then m.value
                        else jsonb_build_array(m.value)
                    end
                ) with ordinality as below (value, place)
            );
        else
            members := pgrag._sorted_page_values(members, name = 'unique');
    end case;
    return case name
        when 'min' then members -> 0
        when 'max' then members -> -1
        else members
    end;
end;
$$;

create or replace function pgrag._sorted_page_values(
    members jsonb,
    is_unique boolean
)
returns jsonb
language sql
immutable
parallel safe
set search_path from current
as $$
    select coalesce(
        jsonb_agg(v.value order by v.rank, v.number, v.words collate "C", v.place), '[]'
    )
    from (
        select
            m.value, m.place, k.rank, k.number, k.words,
            row_number() over (partition by m.value order by m.place) as nth
        from jsonb_array_elements(_sorted_page_values.members) with ordinality as m (value, place)
        cross join lateral pgrag._page_value_key(m.value) as k
        where m.value <> 'null'
    ) as v
    where v.nth = 1 or not _sorted_page_values.is_unique;
$$;

-- A list has a member, an object a key, a text a part that is the value.
create or replace function pgrag._page_value_contains(
    value jsonb,
    wanted jsonb,
    ignores_case boolean default false
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    if value is null or wanted is null then
        return false;
    elsif ignores_case then
        return pgrag._page_value_contains(lower(value::text)::jsonb, lower(wanted::text)::jsonb);
    elsif jsonb_typeof(value) = 'array' then
        return value @> jsonb_build_array(wanted)
            and jsonb_typeof(wanted) not in ('array', 'object')
            -- Dates and links can be written in several ways.
            or pgrag._page_value_type(wanted) not in ('string', 'number', 'boolean')
            and exists (
                select
                from jsonb_array_elements(value) as m
                where pgrag._same_page_value(m, wanted)
            );
    elsif jsonb_typeof(value) = 'object' then
        return value ? (wanted #>> '{}');
    end if;
    return strpos(value #>> '{}', wanted #>> '{}') > 0;
end;
$$;
