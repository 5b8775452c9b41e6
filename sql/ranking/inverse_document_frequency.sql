-- ln(1 + (N - n + 0.5) / (n + 0.5)), never negative; N documents in the corpus, n with the term.
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

comment on function pgrag.inverse_document_frequency is
'ln(1 + (N - n + 0.5) / (n + 0.5)), never negative; N documents in the corpus, n with the term.';
