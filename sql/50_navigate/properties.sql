-- What properties the pages of a version have, and of what types they are in fact: nobody declares
-- them, and a text among the numbers of one is mostly a slip.
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
    owner_id bigint := pgrag._library_id(properties.library);
    wanted_version bigint := (
        select r.version_id from pgrag.resolve_version(properties.library, properties.version) as r
    );
begin
    if properties.example_count < 0 then
        raise exception 'example_count must be at least 0, got %.', properties.example_count
            using errcode = 'PGR01', hint = '3 are usual.';
    end if;
    return query
    with found as materialized (
        select e.key, e.value, count(*) as pages, min(p.key) as first_page
        from pgrag.pages as p
        cross join lateral jsonb_each(p.front_matter) as e
        where p.library_id = owner_id and p.version_id = wanted_version
        group by e.key, e.value
    ),
    typed as materialized (
        select f.*, pgrag._property_type(f.value) as type from found as f
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
        pgrag._is_mixed(c.types)
    from counted as c
    order by c.pages desc, c.key;
end;
$$;

comment on function pgrag.properties(text, text, integer) is
'The properties in the front matter of one version of a library (see resolve_version), those of most
pages first: types as they are found, the most frequent first (text, number, boolean, date,
datetime, duration, link, list, object), pages that have it, their share of all pages (0 to 1),
distinct values, example_count of the most frequent values, pages by type ("empty" for null and
empty text), and whether the types are mixed: a date beside a datetime is not, nor a list of what
else stands alone. Errors: PGR01, PGR02, PGR03.';

create or replace function pgrag._property_type(
    value jsonb
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    type text := pgrag._page_value_type(value);
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

create or replace function pgrag._is_mixed(
    types text[]
)
returns boolean
language sql
immutable
parallel safe
as $$
    select coalesce(
        pg_catalog.count(
            distinct case t when 'datetime' then 'date' when 'link' then 'text' else t end
        )
            filter (where t <> 'list') > 1
        or pg_catalog.bool_or(t = 'list') and pg_catalog.bool_or(t = 'object'),
        false
    )
    from pg_catalog.unnest(_is_mixed.types) as t;
$$;
