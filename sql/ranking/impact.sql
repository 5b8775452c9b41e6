-- The query-independent part of BM25.
create or replace function pgrag.impact(
    frequency double precision,
    length double precision,
    average_length double precision,
    k1 double precision,
    b double precision
)
returns double precision
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    perform _pgrag.check_range('frequency', frequency, 0, 1e9);
    perform _pgrag.check_range('length', length, 0, 1e9);
    perform _pgrag.check_range('average_length', average_length, 1e-9, 1e9);
    perform _pgrag.check_range('k1', k1, 0, 1e9);
    perform _pgrag.check_range('b', b, 0, 1);
    return case when frequency = 0 then 0
        else _pgrag.impact(frequency, length, average_length, k1, b) end;
end;
$$;

comment on function pgrag.impact is
'tf (k1 + 1) / (tf + k1 (1 - b + b length / average_length)): the contribution of a term to a BM25
score before multiplication by its idf (Robertson and Zaragoza: The Probabilistic Relevance
Framework, 2009). frequency and length are weighted sums over the fields.
Errors: PGR01 for a number out of its bounds.';

-- Without checks, for the queries that write impacts.
create or replace function _pgrag.impact(
    frequency double precision,
    length double precision,
    average_length double precision,
    k1 double precision,
    b double precision
)
returns double precision
language sql
immutable
parallel safe
as $$
    select impact.frequency * (impact.k1 + 1)
        / (
            impact.frequency
            + impact.k1 * (1 - impact.b + impact.b * impact.length / impact.average_length)
        );
$$;
