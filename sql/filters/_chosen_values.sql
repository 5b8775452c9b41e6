-- The values that conjunctive filters demand of these fields, as lists by field: those of a value,
-- a list, and the operators =, in and all, also within "and". Fields that are filtered in other
-- ways have an empty list.
create or replace function _pgrag.chosen_values(
    filters jsonb,
    fields text[]
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select coalesce(jsonb_object_agg(c.field, c.members), '{}')
    from (
        select
            f.field,
            coalesce(
                jsonb_agg(v.value) filter (
                    where v.value is not null and (f.field <> 'path' or v.value like '/%')
                ),
                '[]'
            ) as members
        from _pgrag.conjunctive_filters(filters) as f
        left join lateral (
            select case f.field
                when 'tags' then regexp_replace(m.member, '^#(?=.)|(?<=.)/$', '', 'g')
                when 'path' then rtrim(m.member, '/')
                when 'language' then coalesce(_pgrag.language_code(m.member), m.member)
                else m.member
            end as value
            from jsonb_array_elements(
                case jsonb_typeof(f.condition)
                    when 'object' then jsonb_build_array(
                        f.condition -> '=', f.condition -> 'in', f.condition -> 'all'
                    )
                    else jsonb_build_array(f.condition)
                end
            ) as o (operand)
            cross join lateral jsonb_array_elements_text(
                case jsonb_typeof(o.operand)
                    when 'array' then o.operand
                    when 'string' then jsonb_build_array(o.operand)
                    else '[]'
                end
            ) as m (member)
        ) as v on true
        where f.field = any (fields)
        group by f.field
    ) as c;
$$;

create or replace function _pgrag.conjunctive_filters(
    filters jsonb
)
returns table (
    field text,
    condition jsonb
)
language sql
immutable
parallel safe
as $$
    with recursive filter (value) as (
        select e.element
        from jsonb_array_elements(conjunctive_filters.filters) as e (element)
        where jsonb_typeof(e.element) = 'object'
        union all
        select e.element
        from filter as f
        cross join lateral jsonb_array_elements(
            _pgrag.members_of(f.value -> 'and')
        ) as e (element)
        where jsonb_typeof(e.element) = 'object'
    )
    select coalesce(q.field, k.key), k.value
    from filter as f
    cross join lateral jsonb_each(f.value - 'and') as k
    left join _pgrag.query_fields() as q on q.name = k.key;
$$;

-- A list; what is none is refused where filters are compiled.
create or replace function _pgrag.members_of(
    list jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select case jsonb_typeof(members_of.list) when 'array' then members_of.list else '[]' end;
$$;

-- The filters without those on a field that conjunctive_filters finds.
create or replace function _pgrag.without_filter(
    filters jsonb,
    field text
)
returns jsonb
language plpgsql
immutable
parallel safe
as $$
begin
    if jsonb_typeof(filters) is distinct from 'object' then
        return filters;
    end if;
    return (
        select coalesce(jsonb_object_agg(
            k.key,
            case k.key
                when 'and' then (
                    select jsonb_agg(_pgrag.without_filter(e.element, without_filter.field))
                    from jsonb_array_elements(_pgrag.members_of(k.value)) as e (element)
                )
                else k.value
            end
        ), '{}')
        from jsonb_each(filters) as k
        left join _pgrag.query_fields() as q on q.name = k.key
        where coalesce(q.field, k.key) <> without_filter.field
    );
end;
$$;
