-- Whether a hit answers the query, from 0 to 1: a logistic regression of what the passage itself
-- shows, so that it means the same whatever fusion, weights or a reranker make of the order.
--   coverage  the share of the query's idf that the passage's words have
--   known     the share that the words of the library have: where they know few (a question in
--             another language), the cosine says more
-- The constants (meaning alone, words alone, both) are what `python -m benchmarks.questions
-- confidence --fit` makes of labelled questions to libraries with and without the pages that answer
-- them, with the built-in model; see docs/confidence.md. Null without a page's score and a cosine.
create or replace function _pgrag.confidence(
    coverage double precision,
    known double precision,
    page_score double precision,
    cosine double precision
)
returns double precision
language sql
immutable
parallel safe
as $$
    select 1 / (1 + exp(-case
        when page_score is null
        then -6.52 + 9.14 * coverage - 0.88 * known + 7.66 * cosine + 4.68 * (1 - known) * cosine
        when cosine is null then -1.43 + 5.17 * coverage - 2.93 * known + 10.96 * page_score
        else -6.63 + 6.07 * coverage - 0.87 * known + 9.61 * page_score + 6.13 * cosine
            + 6.46 * (1 - known) * cosine
    end));
$$;

-- Below this confidence of the best hit nothing answers. Of the questions of docs/confidence.md
-- that the pages answer, few are below.
create or replace function _pgrag.no_match()
returns double precision
language sql
immutable
parallel safe
as $$
    select 0.15::double precision;
$$;

-- Below this one, a page is not read and a language model not asked: it tells better what a page
-- answers that lacks most words of the question.
create or replace function _pgrag.no_answer()
returns double precision
language sql
immutable
parallel safe
as $$
    select 0.05::double precision;
$$;

-- The evidence of each hit, by its position, and what follows from it. Null for vectors of models
-- other than the built-in one: their cosines have other scales.
create or replace function _pgrag.evidence(
    hits _pgrag.ranked_hit[],
    request _pgrag.search_request
)
returns table (
    nth bigint,
    coverage double precision,
    known double precision,
    page_score double precision,
    cosine double precision,
    confidence double precision
)
language sql
stable
parallel safe
rows 20
as $$
    with terms as materialized (
        select
            t.library_id, t.language, t.weight,
            case
                when t.document_count > 0
                then _pgrag.sparse_vector(_pgrag.lexeme_id(t.language, t.lexeme) || ':1')
            end as lexeme
        from unnest((evidence.request).terms) as t
    ),
    languages as (
        select
            t.library_id,
            case when min(t.language) = max(t.language) then min(t.language) end as only_one
        from terms as t
        group by t.library_id
    )
    select
        h.ordinality, w.coverage, w.known, e.page_score, h.semantic_score,
        case
            when h.semantic_score is null or q.is_builtin
            then _pgrag.confidence(w.coverage, w.known, e.page_score, h.semantic_score)
        end
    from unnest(evidence.hits) with ordinality as h
    join unnest((evidence.request).queries) as q on q.library_id = h.library_id
    -- Without page evidence the page was not compared.
    cross join lateral (
        select case when q.page_evidence > 0 then h.page_score end as page_score
    ) as e
    left join languages as o on o.library_id = h.library_id
    -- Not its text vector, which is TOASTed.
    cross join lateral (
        select
            i.weights,
            coalesce(o.only_one, (
                select d.language
                from pgrag.documents as d
                where d.library_id = h.library_id and d.document_id = h.document_id
            )) as language
        from pgrag.impacts as i
        where i.library_id = h.library_id and i.document_id = h.document_id
        offset 0
    ) as d
    cross join lateral (
        select
            -- A phrase of stop words has no weight, but each hit has all of it.
            case
                when (evidence.request).is_phrase then 1
                else coalesce(
                    sum(t.weight) filter (where d.weights <#> t.lexeme < 0) / sum(t.weight), 0
                )
            end as coverage,
            case
                when (evidence.request).is_phrase then 1
                else coalesce(
                    sum(t.weight) filter (where t.lexeme is not null) / sum(t.weight), 0
                )
            end as known
        from terms as t
        where t.library_id = h.library_id and t.language = d.language
    ) as w;
$$;

create or replace function _pgrag.with_confidence(
    hits _pgrag.ranked_hit[],
    request _pgrag.search_request
)
returns _pgrag.ranked_hit[]
language plpgsql
stable
parallel safe
as $$
begin
    -- One row at once: each assignment to a member would copy the array.
    return array(
        select row(
            h.library_id, h.document_id, h.page_id, h.score, h.keyword_score, h.semantic_score,
            h.passage_score, h.page_score, h.keyword_rank, h.semantic_rank, h.section_score,
            h.hybrid_score, h.graph, e.confidence, h.better_on_page, h.steps
        )::_pgrag.ranked_hit
        from unnest(hits) with ordinality as h
        left join _pgrag.evidence(hits, request) as e on e.nth = h.ordinality
        order by h.ordinality
    );
end;
$$;

-- The hits with at least the requested confidence, and those whose confidence is unknown.
create or replace function _pgrag.confident(
    hits _pgrag.ranked_hit[],
    request _pgrag.search_request
)
returns _pgrag.ranked_hit[]
language plpgsql
stable
parallel safe
as $$
begin
    if request.min_confidence is null or request.min_confidence = 0 then
        return hits;
    end if;
    return array(
        select h
        from unnest(_pgrag.with_confidence(hits, request)) as h
        where (h.confidence < request.min_confidence) is not true
    );
end;
$$;

-- Says where min_confidence had no effect; says that nothing answers, and names the nearest pages,
-- if even the best of the first hits has little confidence, and the caller has not decided which is
-- enough.
create or replace function _pgrag.note_no_match(
    hits _pgrag.ranked_hit[],
    request _pgrag.search_request
)
returns void
language plpgsql
stable
parallel safe
as $$
begin
    if request.min_confidence > 0 then
        if exists (select from unnest(hits) as h where h.confidence is null) then
            raise notice 'min_confidence left out no hit whose confidence is not known.';
        end if;
    end if;
    if num_nonnulls(request.after_id, request.after_place, request.min_confidence) = 0
        -- The search for the reranker's candidates has said it.
        and request.reranked is null
        -- Mostly so, and the others are not asked.
        and (hits[1].confidence < _pgrag.no_match()) is not false
    then
        if (select max(h.confidence) from unnest(hits) as h) >= _pgrag.no_match() is not false then
            return;
        end if;
        raise notice 'No good match; nearest: %.', (
            select string_agg(p.title, ', ' order by n.nth)
            from (
                select h.library_id, h.page_id, min(h.ordinality) as nth
                from unnest(hits) with ordinality as h
                group by h.library_id, h.page_id
                order by min(h.ordinality)
                limit 3
            ) as n
            join pgrag.pages as p on p.library_id = n.library_id and p.page_id = n.page_id
        );
    end if;
end;
$$;
