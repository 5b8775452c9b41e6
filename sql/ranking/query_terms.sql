-- The lexemes of the query in each language of each library. An unknown lexeme still counts in the
-- norm: a passage that matches one word of ten has matched a tenth of the query.
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
    select t.*
    from _pgrag.terms_of(
        _pgrag.searchable_text(query_terms.words, of_query => true),
        array(
            select l from pgrag.libraries as l where l.library_id = any (query_terms.library_ids)
        )
    ) as t;
end;
$$;

comment on function pgrag.query_terms is
'The lexemes of a query in every language of the given libraries, each with its frequency in the
query (less than 1 for one of several forms of a word), document frequency, inverse document
frequency, weight (frequency idf / sum(frequency idf (k1 + 1)), so that a BM25F score is between 0
and 1) and bound, the most that it adds to a score.';

-- Whether the query is but stop words in a language of the libraries.
create or replace function _pgrag.has_wordless_language(
    library_ids bigint[],
    terms pgrag.query_term[]
)
returns boolean
language plpgsql
stable
parallel safe
as $$
begin
    return exists (
        select
        from pgrag.corpus_statistics as c
        where c.library_id = any (has_wordless_language.library_ids)
            and c.document_count > 0
            and c.language not in (select t.language from unnest(terms) as t)
    );
end;
$$;

-- searched: what searchable_text makes of the words. Inlined.
create or replace function _pgrag.terms_of(
    searched text,
    libraries pgrag.libraries[]
)
returns setof pgrag.query_term
language sql
stable
parallel safe
rows 20
as $$
    select t.*
    from (
        select
            array_agg(c.library_id) as library_ids,
            array_agg(c.language) as languages,
            array_agg(c.document_count) as document_counts,
            array_agg(c.k1) as k1s,
            array_agg(term.lexeme) as lexemes,
            array_agg(f.frequency) as frequencies
        from (
            select
                c.library_id, c.language, c.document_count,
                _pgrag.setting(l.settings, 'k1')::double precision as k1
            from unnest(terms_of.libraries) as l
            join pgrag.corpus_statistics as c
                on c.library_id = l.library_id and c.document_count > 0
            -- Else the words would be read in the languages of every library there is.
            offset 0
        ) as c
        cross join lateral (
            select _pgrag.text_vector(c.language, terms_of.searched, of_query => true) as search
            offset 0
        ) as v
        cross join lateral (
            select _pgrag.whole_names(tsvector_to_array(v.search)) as names offset 0
        ) as whole
        cross join lateral unnest(v.search) as term
        cross join lateral (
            -- A word with diacritics (B) and the same word without them (C) count as one; beside a
            -- name with signs its letters count little.
            select case when term.lexeme = any (whole.names) then 1 else 0.3 end * (
                case
                    when 'D' = all (term.weights) then cardinality(term.weights)
                    else (
                        select sum(case o.label when 'B' then 0.8 when 'C' then 0.2 else 1 end)
                        from unnest(term.weights) as o (label)
                    )
                end
            )::double precision as frequency
            offset 0
        ) as f
    ) as q
    cross join lateral _pgrag.weighted_terms(
        q.library_ids, q.languages, q.document_counts, q.k1s, q.lexemes, q.frequencies
    ) as t;
$$;

create or replace function _pgrag.terms_of_words(
    words text,
    libraries pgrag.libraries[]
)
returns pgrag.query_term[]
language plpgsql
stable
parallel safe
as $$
declare
    searched constant text := _pgrag.searchable_text(words, of_query => true);
begin
    return array(select t from _pgrag.terms_of(searched, libraries) as t);
end;
$$;

-- Whether every language of the libraries lacks a word of the query: then one may be misspelt.
create or replace function _pgrag.lack_words(
    terms pgrag.query_term[]
)
returns boolean
language plpgsql
immutable
parallel safe
as $$
declare
    term pgrag.query_term;
    is_lacking boolean := false;
begin
    -- A loop: most queries lack none, and a statement takes longer to start.
    foreach term in array terms loop
        is_lacking := is_lacking or term.document_count = 0;
    end loop;
    if not is_lacking then
        return false;
    end if;
    return (
        select bool_and(l.lacks)
        from (
            select bool_or(t.document_count = 0) as lacks
            from unnest(terms) as t
            group by t.library_id, t.language
        ) as l
    );
end;
$$;

-- document_counts: of the library in that language. k1s: of the library. frequencies: of the lexeme
-- in the query, which in an expanded query may be fractional. Inlined.
create or replace function _pgrag.weighted_terms(
    library_ids bigint[],
    languages text[],
    document_counts bigint[],
    k1s double precision[],
    lexemes text[],
    frequencies double precision[]
)
returns setof pgrag.query_term
language sql
stable
parallel safe
rows 20
as $$
    with terms as (
        select
            q.library_id, q.language, q.lexeme, q.frequency,
            coalesce(s.document_count, 0) as document_count,
            coalesce(s.largest_impact, 0) as largest_impact,
            q.k1 + 1 as saturation,
            pgrag.inverse_document_frequency(coalesce(s.document_count, 0), q.all_documents) as idf
        from unnest(
            weighted_terms.library_ids, weighted_terms.languages, weighted_terms.document_counts,
            weighted_terms.k1s, weighted_terms.lexemes, weighted_terms.frequencies
        ) as q (library_id, language, all_documents, k1, lexeme, frequency)
        left join pgrag.lexeme_statistics as s
            on s.library_id = q.library_id
            and s.language = q.language
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
        w.library_id, w.language, w.lexeme, w.frequency, w.document_count, w.idf,
        w.weight, w.weight * w.largest_impact
    from weighted as w
    order by w.library_id, w.language, w.lexeme;
$$;

-- The vectors that are compared with the impacts of passages and pages. Inlined.
create or replace function _pgrag.query_vectors(
    terms pgrag.query_term[]
)
returns table (
    library_ids bigint[],
    vectors sparsevec[]
)
language sql
stable
parallel safe
rows 1
as $$
    select
        array_agg(v.library_id order by v.library_id), array_agg(v.vector order by v.library_id)
    from (
        select
            t.library_id,
            _pgrag.sparse_vector(string_agg(t.lexeme_id || ':' || t.weight, ',')) as vector
        from (
            select
                term.library_id,
                _pgrag.lexeme_id(term.language, term.lexeme) as lexeme_id,
                max(term.weight)::real as weight
            from unnest(query_vectors.terms) as term
            where term.document_count > 0
            group by term.library_id, _pgrag.lexeme_id(term.language, term.lexeme)
        ) as t
        group by t.library_id
    ) as v;
$$;
