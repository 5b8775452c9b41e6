-- ln(1 + (N - n + 0.5) / (n + 0.5)), never negative; N passages in the library, n with the term.
create or replace function pgrag.inverse_document_frequency(
    document_count double precision,
    corpus_size double precision
)
returns double precision
language sql
immutable
parallel safe
as $$
    select case
        when inverse_document_frequency.document_count not between 0 and 1e15
            or inverse_document_frequency.corpus_size not between 0 and 1e15
        then _pgrag.refuse(
            -- format() is stable: the function would not be inlined.
            'document_count and corpus_size must be numbers of documents, got '
                || inverse_document_frequency.document_count::text || ' and '
                || inverse_document_frequency.corpus_size::text || '.',
            'Count from 0.'
        )::double precision
        else pg_catalog.ln(
            1
            + greatest(
                inverse_document_frequency.corpus_size
                    - inverse_document_frequency.document_count + 0.5,
                0.5
            ) / (inverse_document_frequency.document_count + 0.5)
        )
    end;
$$;

comment on function pgrag.inverse_document_frequency is
'ln(1 + (N - n + 0.5) / (n + 0.5)), never negative; N passages in the library, n with the term.
Errors: PGR01 for negative numbers.';
