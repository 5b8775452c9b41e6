-- Refuses a number that is out of bounds, null or not measurable, naming the argument.
create or replace function _pgrag.check_range(
    argument text,
    value double precision,
    least_value double precision,
    greatest_value double precision
)
returns void
language plpgsql
immutable
parallel safe
as $$
begin
    if (value between least_value and greatest_value and _pgrag.is_measurable(value::numeric))
        is not true
    then
        raise exception '% must be between % and %, got %.',
            argument, least_value, greatest_value, coalesce(value::text, 'null')
            using errcode = 'PGR01';
    end if;
end;
$$;

-- Refuses a negative number of rows; null means all of them.
create or replace function _pgrag.check_count(
    argument text,
    value bigint
)
returns void
language plpgsql
immutable
parallel safe
as $$
begin
    if value < 0 then
        raise exception '% must be at least 0, got %.', argument, value
            using errcode = 'PGR01', hint = 'Null means all.';
    end if;
end;
$$;

-- Refuses null for an argument without which a call means nothing.
create or replace function _pgrag.check_given(
    argument text,
    value anyelement
)
returns void
language plpgsql
immutable
parallel safe
as $$
begin
    if value is null then
        raise exception '% must not be null.', argument using errcode = 'PGR01';
    end if;
end;
$$;

-- Products and quotients of smaller or larger numbers could overflow in the middle of a search.
create or replace function _pgrag.is_measurable(
    value numeric
)
returns boolean
language sql
immutable
parallel safe
as $$
    select is_measurable.value = 0
        or pg_catalog.abs(is_measurable.value) between 1e-100 and 1e100;
$$;

-- Refuses null and what is not one of the choices.
create or replace function _pgrag.check_choice(
    argument text,
    value text,
    choices text[]
)
returns void
language plpgsql
immutable
parallel safe
as $$
begin
    if (value = any (choices)) is not true then
        raise exception '% must be %, got %.',
            argument,
            regexp_replace(array_to_string(choices, ', '), ', ([^,]*)$', ' or \1'),
            quote_nullable(left(value, 200))
            using errcode = 'PGR01';
    end if;
end;
$$;
