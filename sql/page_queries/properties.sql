-- Properties have no declared type, and a text among numbers is mostly a mistake.
create or replace function pgrag.properties(
    library text,
    version text default null,
    example_count integer default 3
)
returns table (
    name text,
    types text[],
    pages bigint,
    share double precision,
    distinct_values bigint,
    examples jsonb,
    type_counts jsonb,
    is_mixed boolean
)
language plpgsql
stable
parallel safe
set search_path from current
set jit = off
as $$
#variable_conflict use_column
declare
    owner_id bigint := _pgrag.library_id(library);
    wanted_version bigint := (pgrag.resolve_version(library, version)).version_id;
begin
    perform _pgrag.check_count('example_count', properties.example_count);
    return query
    with typed as materialized (
        select
            e.key, e.value, _pgrag.property_type(e.value) as type, count(*) as pages,
            min(p.key) as first_page
        from pgrag.pages as p
        cross join lateral jsonb_each(p.front_matter) as e
        where p.library_id = owner_id and p.version_id = wanted_version
        group by e.key, e.value
    ),
    counted as (
        select
            k.key,
            sum(k.pages)::bigint as pages,
            sum(k.value_count) filter (where k.type <> 'empty')::bigint as distinct_values,
            array_agg(k.type order by k.pages desc, k.type) filter (where k.type <> 'empty')
                as types,
            jsonb_object_agg(k.type, k.pages) as type_counts
        from (
            select t.key, t.type, sum(t.pages)::bigint as pages, count(*) as value_count
            from typed as t
            group by t.key, t.type
        ) as k
        group by k.key
    )
    select
        c.key,
        coalesce(c.types, '{}'),
        c.pages,
        c.pages / (
            select nullif(count(*), 0)::double precision
            from pgrag.pages as p
            where p.library_id = owner_id and p.version_id = wanted_version
        ),
        coalesce(c.distinct_values, 0),
        (
            select coalesce(jsonb_agg(x.value order by x.pages desc, x.first_page), '[]')
            from (
                select t.value, t.pages, t.first_page
                from typed as t
                where t.key = c.key and t.type <> 'empty'
                order by t.pages desc, t.first_page
                limit properties.example_count
            ) as x
        ),
        c.type_counts,
        (
            select coalesce(
                count(
                    distinct case t when 'datetime' then 'date' when 'link' then 'text' else t end
                ) filter (where t <> 'list') > 1
                or '{list,object}' <@ c.types,
                false
            )
            from unnest(c.types) as t
        )
    from counted as c
    order by c.pages desc, c.key;
end;
$$;

comment on function pgrag.properties is
'The properties in the front matter of one version of a library (see resolve_version), the most
common first: types found in the values, the most frequent first (text, number, boolean, date,
datetime, duration, link, list, object), number of pages, their share of all pages (0 to 1), number
of distinct values, the most frequent values (at most example_count), pages by type ("empty" for
null and empty text), and whether types are mixed: not if only date and datetime, text and link, or
lists and single values differ. Errors: PGR01, PGR02, PGR03.';

create or replace function _pgrag.property_type(
    value jsonb
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    type text := (_pgrag.page_value_key(value)).type;
begin
    return case
        when value in ('null', '""') then 'empty'
        when type = 'array' then 'list'
        when type = 'string' then 'text'
        when type = 'date' and length(value #>> '{}') > 10 then 'datetime'
        else type
    end;
end;
$$;
