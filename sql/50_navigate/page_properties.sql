-- The properties of one page, each with its type and its value as a value of that type, for SQL
-- that computes with them.
create or replace function pgrag.page_properties(
    page_id bigint
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
language plpgsql
stable
parallel safe
rows 10
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted pgrag.pages := pgrag._page(page_properties.page_id);
begin
    return query
    select
        e.key,
        pgrag._property_type(e.value),
        e.value,
        e.value #>> '{}',
        case when jsonb_typeof(e.value) = 'number' then e.value::numeric end,
        case when jsonb_typeof(e.value) = 'boolean' then e.value::boolean end,
        pgrag._moment(e.value),
        pgrag._duration(e.value)
    from jsonb_each(wanted.front_matter) as e
    order by e.key collate "C";
end;
$$;

comment on function pgrag.page_properties(bigint) is
'The properties in the front matter of a page by name: type (text, number, boolean, date, datetime,
duration, link, list, object; "empty" for null and empty text), the value, and the same as text and
as number, boolean, moment (without zone; in UTC where it names one) or duration, as far as it is
one. Errors: PGR04.';
