-- The average length for impacts, rounded to one of three steps between powers of two, so at most
-- an eighth off. It depends on the average alone and seldom changes, so equal sources have equal
-- impacts and few are rewritten. 0 if nothing has a length.
create or replace function _pgrag.rounded_average(
    total_length double precision,
    count bigint
)
returns double precision
language sql
immutable
parallel safe
as $$
    select case
        when rounded_average.total_length > 0 and rounded_average.count > 0
        then 2 ^ (
            pg_catalog.round(
                3 * pg_catalog.ln(rounded_average.total_length / rounded_average.count)
                    / pg_catalog.ln(2::double precision)
            ) / 3
        )
        else 0
    end;
$$;
