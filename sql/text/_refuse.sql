-- Raises PGR01. Lets a function in SQL refuse an argument in a branch of a CASE; returns text only
-- to have a type. The message must contain an argument: the planner evaluates calls with constants.
create or replace function _pgrag.refuse(
    message text,
    hint text
)
returns text
language plpgsql
immutable
parallel safe
as $$
begin
    raise exception '%', message using errcode = 'PGR01', hint = hint;
end;
$$;
