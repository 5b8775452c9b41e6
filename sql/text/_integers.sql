-- A JSON list of integers as an array; null if it is not a list.
create or replace function _pgrag.integers(
    list jsonb
)
returns integer[]
language sql
immutable
strict
parallel safe
as $$
    select array_agg(e.value::integer)
    from jsonb_array_elements_text(
        case when jsonb_typeof(integers.list) = 'array' then integers.list end
    ) as e (value);
$$;
