-- The result of a page query function whose values may have any type, including lists.
create or replace function _pgrag.page_list_function(
    name text,
    arguments jsonb[]
)
returns jsonb
language plpgsql
immutable
parallel safe
as $$
declare
    value jsonb := nullif(arguments[1], 'null');
    other jsonb := nullif(arguments[2], 'null');
    type text := jsonb_typeof(value);
    members jsonb := case
        when cardinality(arguments) = 1 and type = 'array' then value
        when cardinality(arguments) = 1 and value is null then '[]'
        else to_jsonb(arguments)
    end;
begin
    case
        when name = 'default' then
            return coalesce(value, other);
        when name = 'choice' then
            return arguments[case when _pgrag.is_page_value_true(value) then 2 else 3 end];
        when name = 'typeof' then
            return to_jsonb((_pgrag.page_value_key(value)).type);
        when name = 'length' and type = 'object' then
            return to_jsonb((select count(*) from jsonb_object_keys(value)));
        when name = 'length' then
            return to_jsonb(
                case type
                    when 'array' then jsonb_array_length(value)
                    else coalesce(length(value #>> '{}'), 0)
                end
            );
        when name = 'link' then
            return to_jsonb('[[' || concat_ws('|', value #>> '{}', other #>> '{}') || ']]');
        when name in ('list', 'array') then
            return _pgrag.bounded_page_value(to_jsonb(arguments));
        when name = 'join' then
            members := case type when 'array' then value else jsonb_build_array(value) end;
            return _pgrag.bounded_page_value((
                select to_jsonb(
                    coalesce(string_agg(m, coalesce(arguments[2] #>> '{}', ', ')), '')
                )
                from jsonb_array_elements_text(members) as m
            ));
        when name in ('all', 'any', 'none', 'sum', 'average') then
            return (
                select case name
                    when 'all' then to_jsonb(count(*) = count(*) filter (where m.is_true))
                    when 'any' then to_jsonb(count(*) filter (where m.is_true) > 0)
                    when 'none' then to_jsonb(count(*) filter (where m.is_true) = 0)
                    when 'sum' then to_jsonb(trim_scale(sum(m.number)))
                    else to_jsonb(trim_scale(avg(m.number)))
                end
                from (
                    select
                        _pgrag.is_page_value_true(v) as is_true,
                        case when jsonb_typeof(v) = 'number' then v::numeric end as number
                    from jsonb_array_elements(members) as v
                ) as m
            );
        when name = 'nonnull' then
            return jsonb_path_query_array(members, 'strict $[*] ? (@ != null)');
        when name = 'flat' then
            return jsonb_path_query_array(members, 'lax $[*][*]');
        when name = 'reverse' then
            return (
                select coalesce(jsonb_agg(m.value order by m.item desc), '[]')
                from jsonb_array_elements(members) with ordinality as m (value, item)
            );
        else
            members := (
                select coalesce(
                    jsonb_agg(v.value order by v.rank, v.number, v.words collate "C", v.item), '[]'
                )
                from (
                    select
                        m.value, m.item, k.rank, k.number, k.words,
                        row_number() over (partition by m.value order by m.item) as nth
                    from jsonb_array_elements(members) with ordinality as m (value, item)
                    cross join lateral _pgrag.page_value_key(m.value) as k
                    where m.value <> 'null'
                ) as v
                where v.nth = 1 or name <> 'unique'
            );
            return case name
                when 'min' then members -> 0
                when 'max' then members -> -1
                else members
            end;
    end case;
end;
$$;

-- Whether a list has the value as a member, an object as a key, or a text as a part.
create or replace function _pgrag.page_value_contains(
    value jsonb,
    member jsonb,
    ignores_case boolean default false
)
returns boolean
language plpgsql
immutable
parallel safe
as $$
begin
    if value is null or member is null then
        return false;
    elsif ignores_case then
        return _pgrag.page_value_contains(lower(value::text)::jsonb, lower(member::text)::jsonb);
    elsif jsonb_typeof(value) = 'object' then
        return value ? (member #>> '{}');
    elsif jsonb_typeof(value) <> 'array' then
        return strpos(value #>> '{}', member #>> '{}') > 0;
    elsif (_pgrag.page_value_key(member)).type in ('string', 'number', 'boolean') then
        return value @> jsonb_build_array(member);
    end if;
    -- Equal dates and links may be written differently.
    return exists (
        select
        from jsonb_array_elements(value) as m
        where _pgrag.compare_page_values(m, member) = 0
    );
end;
$$;
