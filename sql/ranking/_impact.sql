-- The query-independent part of BM25 (Robertson and Zaragoza: The Probabilistic Relevance
-- Framework, 2009). frequency and length are weighted sums over the fields.
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
