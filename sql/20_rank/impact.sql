-- The part of BM25 that does not depend on the query.
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

comment on function pgrag.impact(double precision, double precision, double precision, double precision, double precision) is
'tf (k1 + 1) / (tf + k1 (1 - b + b length / average_length)): what one term adds to a BM25 score
before it is multiplied by the term''s idf (Robertson and Zaragoza: The Probabilistic Relevance
Framework, 2009). frequency and length are weighted sums over the fields.';

create or replace function pgrag.inverse_document_frequency(
    document_count double precision,
    corpus_size double precision
)
returns double precision
language sql
immutable
parallel safe
as $$
    select pg_catalog.ln(
        1
        + greatest(
            inverse_document_frequency.corpus_size
                - inverse_document_frequency.document_count + 0.5,
            0.5
        ) / (inverse_document_frequency.document_count + 0.5)
    );
$$;

comment on function pgrag.inverse_document_frequency(double precision, double precision) is
'ln(1 + (N - n + 0.5) / (n + 0.5)), never negative; N documents in the corpus, n with the term.';
