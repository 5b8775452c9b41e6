-- The query-independent part of BM25.
create or replace function pgrag.impact(
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

comment on function pgrag.impact is
'tf (k1 + 1) / (tf + k1 (1 - b + b length / average_length)): the contribution of a term to a BM25
score before multiplication by its idf (Robertson and Zaragoza: The Probabilistic Relevance
Framework, 2009). frequency and length are weighted sums over the fields.';
