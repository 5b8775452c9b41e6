-- A query with more words than were typed: synonyms of its library, and words of the documents that
-- the typed ones find. Every weight is shared out anew, so that scores stay between 0 and 1 and
-- bounds stay bounds.
create or replace function pgrag._expand_terms(
    terms pgrag.query_term[],
    target pgrag.search_target,
    words text,
    query_expansion text
)
returns pgrag.query_term[]
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    expanded pgrag.query_term[] := terms;
begin
    if coalesce(query_expansion, '') not in ('synonyms', 'feedback', 'both') then
        raise exception 'query_expansion must be synonyms, feedback or both, got %.',
            quote_nullable(left(query_expansion, 100))
            using errcode = 'PGR01';
    end if;
    if query_expansion in ('synonyms', 'both') then
        expanded := pgrag._with_synonyms(expanded, words);
    end if;
    if query_expansion in ('feedback', 'both') then
        expanded := pgrag._with_feedback(expanded, target, 10, 10, 0.5);
    end if;
    return expanded;
end;
$$;

-- shares: how often each lexeme counts, as occurrences in the query do; they need not be whole.
create or replace function pgrag._weighted_terms(
    library_ids bigint[],
    languages text[],
    lexemes text[],
    shares double precision[]
)
returns pgrag.query_term[]
language sql
stable
parallel safe
set search_path from current
as $$
    with wanted as (
        select w.library_id, w.language, w.lexeme, max(w.share) as share
        from unnest(
            _weighted_terms.library_ids,
            _weighted_terms.languages,
            _weighted_terms.lexemes,
            _weighted_terms.shares
        ) as w (library_id, language, lexeme, share)
        group by w.library_id, w.language, w.lexeme
    ),
    terms as (
        select
            w.*,
            coalesce(s.document_count, 0) as document_count,
            coalesce(s.largest_impact, 0) as largest_impact,
            (pgrag.effective_settings(l.settings) ->> 'k1')::double precision + 1 as saturation,
            pgrag.inverse_document_frequency(coalesce(s.document_count, 0), c.document_count) as idf
        from wanted as w
        join pgrag.libraries as l on l.library_id = w.library_id
        join pgrag.corpus_statistics as c
            on c.library_id = w.library_id and c.language = w.language
        left join pgrag.lexeme_statistics as s
            on s.library_id = w.library_id
            and s.language = w.language
            and s.lexeme = w.lexeme
    ),
    weighted as (
        select
            t.*,
            t.share * t.idf / sum(t.share * t.idf * t.saturation) over (
                partition by t.library_id, t.language
            ) as weight
        from terms as t
    )
    select coalesce(
        array_agg(
            row(
                w.library_id, w.language, w.lexeme, ceil(w.share), w.document_count, w.idf,
                w.weight, w.weight * w.largest_impact
            )::pgrag.query_term
            order by w.library_id, w.language, w.lexeme
        ),
        '{}'
    )
    from weighted as w;
$$;

-- A synonym counts as often as the term that it stands for, times its weight; of several words,
-- each shares in that. A word that the query has already gains nothing.
create or replace function pgrag._with_synonyms(
    terms pgrag.query_term[],
    words text
)
returns pgrag.query_term[]
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    expanded record;
begin
    if not exists (
        select
        from pgrag.synonyms as s
        where s.library_id in (select t.library_id from unnest(terms) as t)
    ) then
        return terms;
    end if;
    with corpora as (
        select
            t.library_id,
            t.language,
            to_tsvector(
                t.language::regconfig, pgrag.searchable_text(words, camel_case => false)
            ) as query
        from unnest(terms) as t
        group by t.library_id, t.language
    ),
    phrases as (
        select c.library_id, c.language, c.query, p.term, p.expansion, s.weight
        from corpora as c
        join pgrag.synonyms as s on s.library_id = c.library_id
        cross join lateral (
            select s.term, e as expansion
            from unnest(s.expansions) as e
            union all
            select member, other
            from unnest(s.expansions) as member
            cross join unnest(s.term || s.expansions) as other
            where s.mutual and member <> other
        ) as p (term, expansion)
    ),
    found as (
        select p.library_id, p.language, lexeme.lexeme, p.weight / p2.size as share
        from phrases as p
        cross join lateral phraseto_tsquery(p.language::regconfig, p.term) as condition
        cross join lateral (
            select to_tsvector(
                p.language::regconfig, pgrag.searchable_text(p.expansion, camel_case => false)
            )
        ) as x (vector)
        cross join lateral (select length(x.vector)) as p2 (size)
        cross join lateral unnest(x.vector) as lexeme
        where numnode(condition) > 0 and p.query @@ condition
    ),
    counted as (
        select t.library_id, t.language, t.lexeme, t.frequency::double precision as share
        from unnest(terms) as t
        union all
        select f.library_id, f.language, f.lexeme, f.share
        from found as f
    )
    select
        array_agg(c.library_id) as library_ids,
        array_agg(c.language) as languages,
        array_agg(c.lexeme) as lexemes,
        array_agg(c.share) as shares,
        (select count(*) from found) as additions
    into expanded
    from counted as c;
    if expanded.additions = 0 then
        return terms;
    end if;
    return pgrag._weighted_terms(
        expanded.library_ids, expanded.languages, expanded.lexemes, expanded.shares
    );
end;
$$;

-- RM3 (Abdul-Jaleel et al.: UMass at TREC 2004, after the relevance model of Lavrenko and Croft,
-- 2001):
-- p'(w) = original_weight tf(w, q) / |q| + (1 - original_weight) p(w | R), where the model of
-- relevance p(w | R) is that of the best documents, each with its share of their scores, cut to
-- the feedback_terms most probable words. idf comes in as for every query, by BM25.
create or replace function pgrag._with_feedback(
    terms pgrag.query_term[],
    target pgrag.search_target,
    feedback_documents integer,
    feedback_terms integer,
    original_weight double precision
)
returns pgrag.query_term[]
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    hits pgrag.candidates := pgrag._keyword_candidates(
        terms, target, feedback_documents, feedback_documents
    );
    expanded record;
begin
    if cardinality(hits.document_ids) = 0 then
        return terms;
    end if;
    with found as materialized (
        select d.library_id, d.document_id, d.language, d.search, h.score
        from unnest(hits.library_ids, hits.document_ids, hits.scores)
            as h (library_id, document_id, score)
        join pgrag.documents as d
            on d.library_id = h.library_id and d.document_id = h.document_id
    ),
    occurrences as (
        select
            f.library_id,
            f.language,
            f.score,
            o.lexeme,
            cardinality(o.positions)::double precision
                / sum(cardinality(o.positions)) over (partition by f.document_id) as share
        from found as f
        cross join lateral unnest(f.search) as o
        where o.positions is not null
    ),
    relevance as (
        select
            o.library_id, o.language, o.lexeme, sum(o.score * o.share) as share,
            row_number() over (
                partition by o.library_id, o.language
                order by sum(o.score * o.share) desc, o.lexeme
            ) as place
        from occurrences as o
        group by o.library_id, o.language, o.lexeme
    ),
    shares as (
        select
            t.library_id,
            t.language,
            t.lexeme,
            original_weight * t.frequency
                / sum(t.frequency) over (partition by t.library_id, t.language) as share
        from unnest(terms) as t
        union all
        select
            r.library_id,
            r.language,
            r.lexeme,
            (1 - original_weight) * r.share
                / sum(r.share) over (partition by r.library_id, r.language)
        from relevance as r
        where r.place <= feedback_terms
    ),
    summed as (
        select s.library_id, s.language, s.lexeme, sum(s.share) as share
        from shares as s
        group by s.library_id, s.language, s.lexeme
    )
    select
        array_agg(s.library_id) as library_ids,
        array_agg(s.language) as languages,
        array_agg(s.lexeme) as lexemes,
        array_agg(s.share) as shares
    into expanded
    from summed as s;
    return pgrag._weighted_terms(
        expanded.library_ids, expanded.languages, expanded.lexemes, expanded.shares
    );
end;
$$;
