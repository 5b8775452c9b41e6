-- Query expansion: synonyms of the library, and terms of the passages that the query finds. All
-- weights are renormalised, so scores stay between 0 and 1 and the bounds stay valid.
create or replace function _pgrag.expand_terms(
    terms pgrag.query_term[],
    target _pgrag.search_target,
    words text,
    query_expansion text
)
returns pgrag.query_term[]
language plpgsql
stable
parallel safe
as $$
declare
    expanded pgrag.query_term[] := terms;
begin
    if query_expansion in ('synonyms', 'both') then
        expanded := _pgrag.with_synonyms(expanded, words);
    end if;
    if query_expansion in ('feedback', 'both') then
        expanded := _pgrag.with_feedback(expanded, target);
    end if;
    return expanded;
end;
$$;

-- An expansion counts as one occurrence times the weight of the synonym, divided among its words. A
-- lexeme that the query already has gains nothing.
create or replace function _pgrag.with_synonyms(
    terms pgrag.query_term[],
    words text
)
returns pgrag.query_term[]
language plpgsql
stable
parallel safe
as $$
declare
    expanded pgrag.query_term[];
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
            _pgrag.query_vector(t.language, words) as query
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
    expansions as (
        select p.library_id, p.language, lexeme.lexeme, p.weight / length(x.vector) as share
        from phrases as p
        cross join lateral _pgrag.phrase_conditions(p.language, p.term) as condition
        cross join lateral _pgrag.query_vector(p.language, p.expansion) as x (vector)
        cross join lateral unnest(x.vector) as lexeme
        where p.query @@ condition.indexed::tsquery
    ),
    counted as (
        select c.library_id, c.language, c.lexeme, max(c.share) as share
        from (
            select t.library_id, t.language, t.lexeme, t.frequency as share
            from unnest(terms) as t
            union all
            select f.library_id, f.language, f.lexeme, f.share
            from expansions as f
        ) as c
        group by c.library_id, c.language, c.lexeme
    )
    select array(
        select t
        from _pgrag.weighted_terms(
            array_agg(c.library_id), array_agg(c.language), array_agg(s.document_count),
            array_agg(_pgrag.setting(l.settings, 'k1')::double precision),
            array_agg(c.lexeme), array_agg(c.share)
        ) as t
    )
    into expanded
    from counted as c
    join pgrag.corpus_statistics as s
        on s.library_id = c.library_id and s.language = c.language
    join pgrag.libraries as l on l.library_id = c.library_id
    where exists (select from expansions);
    return case when cardinality(expanded) > 0 then expanded else terms end;
end;
$$;

-- RM3 (Abdul-Jaleel et al.: UMass at TREC 2004, after Lavrenko and Croft, 2001):
-- p'(w) = original_weight tf(w, q) / |q| + (1 - original_weight) p(w | R). The relevance model
-- p(w | R) is estimated from the best passages, weighted by their scores, and cut to the
-- feedback_terms most probable terms. BM25 adds the idf, as for every query.
create or replace function _pgrag.with_feedback(
    terms pgrag.query_term[],
    target _pgrag.search_target
)
returns pgrag.query_term[]
language plpgsql
stable
parallel safe
as $$
declare
    feedback_documents constant integer := 10;
    feedback_terms constant integer := 10;
    original_weight constant double precision := 0.5;
    hits constant _pgrag.candidates := _pgrag.keyword_candidates(
        terms, target, feedback_documents, feedback_documents
    );
    expanded pgrag.query_term[];
begin
    if cardinality(hits.document_ids) = 0 then
        return terms;
    end if;
    with hit_passages as materialized (
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
        from hit_passages as f
        cross join lateral unnest(f.search) as o
        where cardinality(o.positions) > 0
    ),
    relevance as (
        select
            o.library_id, o.language, o.lexeme, o.share,
            row_number() over (
                partition by o.library_id, o.language
                order by o.share desc, o.lexeme
            ) as nth
        from (
            select
                o.library_id, o.language, o.lexeme,
                -- In this order, equal sums are equal to the last bit.
                sum(o.score * o.share order by o.score * o.share) as share
            from occurrences as o
            group by o.library_id, o.language, o.lexeme
        ) as o
    ),
    shares as (
        select
            t.library_id, t.language, t.lexeme,
            original_weight * t.frequency
                / sum(t.frequency) over (partition by t.library_id, t.language) as share
        from unnest(terms) as t
        union all
        select
            r.library_id, r.language, r.lexeme,
            (1 - original_weight) * r.share
                / sum(r.share) over (partition by r.library_id, r.language)
        from relevance as r
        where r.nth <= feedback_terms
    ),
    summed as (
        select s.library_id, s.language, s.lexeme, sum(s.share) as share
        from shares as s
        group by s.library_id, s.language, s.lexeme
    )
    select array(
        select t
        from _pgrag.weighted_terms(
            array_agg(s.library_id), array_agg(s.language), array_agg(c.document_count),
            array_agg(_pgrag.setting(l.settings, 'k1')::double precision),
            array_agg(s.lexeme), array_agg(s.share)
        ) as t
    )
    into expanded
    from summed as s
    join pgrag.corpus_statistics as c
        on c.library_id = s.library_id and c.language = s.language
    join pgrag.libraries as l on l.library_id = s.library_id;
    return expanded;
end;
$$;
