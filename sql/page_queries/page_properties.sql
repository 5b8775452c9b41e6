create or replace function pgrag.page_properties(
    page_id anycompatible
)
returns table (
    name text,
    type text,
    value jsonb,
    as_text text,
    as_number numeric,
    as_boolean boolean,
    as_moment timestamp,
    as_duration interval
)
language sql
stable
parallel safe
rows 10
set search_path from current
as $$
    select
        e.key,
        _pgrag.property_type(e.value),
        e.value,
        e.value #>> '{}',
        case when jsonb_typeof(e.value) = 'number' then e.value::numeric end,
        case when jsonb_typeof(e.value) = 'boolean' then e.value::boolean end,
        _pgrag.moment(e.value),
        _pgrag.duration(e.value)
    from jsonb_each((_pgrag.page(pgrag.page_id(page_properties.page_id::text))).front_matter) as e
    order by e.key collate "C";
$$;

comment on function pgrag.page_properties is
'The properties in the front matter of a page by name: type (text, number, boolean, date, datetime,
duration, link, list, object; "empty" for null and empty text), the value as jsonb, as text, and, if
it has that type, as number, boolean, moment (without time zone; in UTC if the text names a zone) or
duration. Errors: PGR04.';
