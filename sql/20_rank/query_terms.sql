-- The query as each library and each of its languages sees it. A lexeme that no document has still
-- counts in the norm: a document that matches one word of ten has matched a tenth of the query.
create or replace function pgrag.query_terms(
    words text,
    library_ids bigint[]
)
returns setof pgrag.query_term
language plpgsql
stable
parallel safe
rows 20
set search_path from current
as $$
begin
    return query
    with corpora as (
        select
            c.library_id,
            c.language,
            c.document_count,
            (pgrag.effective_settings(l.settings) ->> 'k1')::double precision + 1 as saturation
        from pgrag.corpus_statistics as c
        join pgrag.libraries as l on l.library_id = c.library_id
        where c.library_id = any (query_terms.library_ids) and c.document_count > 0
    ),
    lexemes as (
        select
            languages.language,
            term.lexeme,
            cardinality(term.positions) as frequency
        from (select distinct c.language from corpora as c) as languages
        cross join lateral unnest(
            to_tsvector(
                languages.language::regconfig,
                pgrag.searchable_text(query_terms.words, camel_case => false)
            )
        ) as term
    ),
    terms as (
        select
            c.library_id,
            q.language,
            q.lexeme,
            q.frequency,
            coalesce(s.document_count, 0) as document_count,
            coalesce(s.largest_impact, 0) as largest_impact,
            c.saturation,
            pgrag.inverse_document_frequency(coalesce(s.document_count, 0), c.document_count) as idf
        from lexemes as q
        join corpora as c on c.language = q.language
        left join pgrag.lexeme_statistics as s
            on s.library_id = c.library_id
            and s.language = c.language
            and s.lexeme = q.lexeme
    ),
    weighted as (
        select
            t.*,
            t.frequency * t.idf / sum(t.frequency * t.idf * t.saturation) over (
                partition by t.library_id, t.language
            ) as weight
        from terms as t
    )
    select
        w.library_id, w.language, w.lexeme, w.frequency, w.document_count, w.idf, w.weight,
        w.weight * w.largest_impact
    from weighted as w;
end;
$$;

comment on function pgrag.query_terms(text, bigint[]) is
'The lexemes of a query in every language of the libraries given: occurrences in the query,
documents with it, inverse document frequency, weight (frequency idf / sum(frequency idf (k1 + 1)),
so that a BM25F score lies between 0 and 1) and bound, the most that the lexeme can add to a
score.';

create or replace function pgrag._query_vectors(
    terms pgrag.query_term[],
    out library_ids bigint[],
    out vectors sparsevec[]
)
returns record
language sql
stable
parallel safe
set search_path from current
as $$
    select array_agg(v.library_id), array_agg(v.vector)
    from (
        select
            t.library_id,
            pgrag._sparse_vector(string_agg(t.lexeme_id || ':' || t.weight, ',')) as vector
        from (
            select
                term.library_id,
                pgrag.lexeme_id(term.language, term.lexeme) as lexeme_id,
                max(term.weight)::real as weight
            from unnest(_query_vectors.terms) as term
            where term.document_count > 0
            group by term.library_id, pgrag.lexeme_id(term.language, term.lexeme)
        ) as t
        group by t.library_id
    ) as v;
$$;
