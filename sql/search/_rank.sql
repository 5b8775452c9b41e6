-- Both retrievers, fused, to the request's depth. A candidate of one retriever gets its exact score
-- from the other too; no score is guessed. Hits already seen in a shallower list are left out but
-- still count towards max_per_page.
create or replace function _pgrag.rank(
    request _pgrag.search_request,
    seen bigint[],
    hit_count integer
)
returns _pgrag.ranking
language plpgsql
stable
parallel safe
as $$
declare
    ranking _pgrag.ranking;
    keyword_hits _pgrag.candidates := ('{}', '{}', '{}', null);
    vector_hits _pgrag.candidates := ('{}', '{}', '{}', null);
    -- The hits, and half as many that may take the place of a summary. The same for each page of
    -- results, so that a cursor leads through one list.
    certain_count integer := least(
        request.candidate_count,
        greatest(request.top_k * 3 / 2, request.candidate_count / 5)
    );
    passing _pgrag.ranked_hit[];
    needed record;
    started timestamptz := clock_timestamp();
begin
    select
        bool_or(q.alpha < 1) as keywords,
        bool_or(q.alpha > 0) as vectors,
        count(distinct q.model_id) as models
    into needed
    from unnest(request.queries) as q;
    ranking.timings := '{}';
    if needed.keywords then
        keyword_hits := _pgrag.keyword_candidates(
            request.terms, request.target, request.candidate_count, certain_count
        );
        ranking.timings := _pgrag.timed(ranking.timings, 'keyword', clock_timestamp() - started);
        started := clock_timestamp();
    end if;
    if needed.vectors then
        vector_hits := _pgrag.nearest_by_models(request);
        ranking.timings := _pgrag.timed(ranking.timings, 'semantic', clock_timestamp() - started);
        started := clock_timestamp();
    end if;

    passing := array(
        select f
        from _pgrag.fuse(
            request, keyword_hits, vector_hits,
            case when num_nulls(request.max_per_page, request.after_id) = 2 then hit_count end
        ) as f
    );
    if request.max_per_page is not null then
        passing := array(
            select passing[p.nth]
            from (
                select
                    h.ordinality as nth,
                    row_number() over (
                        partition by h.page_id
                        order by h.document_id = any (seen) desc, h.ordinality
                    ) as place_on_page
                from unnest(passing) with ordinality as h
            ) as p
            where p.place_on_page <= request.max_per_page
            order by p.nth
        );
    end if;
    if request.after_id is null then
        ranking.hits := passing[:hit_count];
    else
        -- Only the lists that a cursor leads through are compared.
        ranking.listed := array(select h.document_id from unnest(passing) as h);
        ranking.hits := array(
            select passing[h.ordinality]
            from unnest(passing) with ordinality as h
            where h.document_id <> all (seen)
                and (
                    request.after_score is null
                    or h.score < request.after_score
                    or (
                        h.score = request.after_score
                        and h.ordinality > coalesce(
                            array_position(ranking.listed, request.after_id), 0
                        )
                    )
                )
            order by h.ordinality
            limit hit_count
        );
    end if;
    ranking.timings := _pgrag.timed(ranking.timings, 'fusion', clock_timestamp() - started);
    ranking.plans := to_jsonb(array_remove(array[keyword_hits.plan, vector_hits.plan], null));
    ranking.exhausted := cardinality(keyword_hits.document_ids) < request.candidate_count
        and keyword_hits.plan ->> 'plan' is distinct from 'pruned'
        and cardinality(vector_hits.document_ids) < request.candidate_count;
    -- The upper bound for the score of a passage that neither retriever has found, which matters if
    -- hits are missing. Page evidence is at most 1. With several models the cosine is bounded by 1
    -- as well.
    if cardinality(ranking.hits) < hit_count then
        ranking.bound := case request.fusion
            when 'rrf' then _pgrag.reciprocal_rank_score(
                certain_count, request.candidate_count, request.rrf_weights, request.rrf_k
            )
            else (
                select max(
                    _pgrag.fused_score(
                        _pgrag.keyword_score(
                            coalesce(keyword_hits.scores[certain_count], 0), 1, q.page_evidence
                        ),
                        case
                            when needed.models > 1 then 1
                            else coalesce(vector_hits.scores[request.candidate_count], 0)
                        end,
                        q.alpha
                    )
                )
                from unnest(request.queries) as q
            )
        end * (
            select greatest(max(w.weight::double precision), 1)
            from unnest(request.queries) as q
            cross join lateral jsonb_each_text(q.type_weights) as w (type, weight)
        );
    end if;
    return ranking;
end;
$$;

-- Adds the duration of a step, in milliseconds, to the timings.
create or replace function _pgrag.timed(
    timings jsonb,
    step text,
    duration interval
)
returns jsonb
language sql
stable
parallel safe
as $$
    select coalesce(timed.timings, '{}') || pg_catalog.jsonb_build_object(
        timed.step,
        pg_catalog.round(extract(epoch from timed.duration) * 1000, 3)
    );
$$;

-- At most so many rows, each with at least min_score, the best first. Equal scores are ordered by
-- the sources alone: newer versions, what is earlier on its page, the hash of the text. Windows
-- group the rows, because the planner cannot estimate their number and would join by nested loops.
create or replace function _pgrag.fuse(
    request _pgrag.search_request,
    keyword_hits _pgrag.candidates,
    vector_hits _pgrag.candidates,
    most integer default null
)
returns setof _pgrag.ranked_hit
language plpgsql
stable
parallel safe
as $$
#variable_conflict use_column
begin
    return query
    with found_by_words as (
        select k.*, rank() over (order by k.score desc)::integer as place
        from unnest(
            (fuse.keyword_hits).library_ids,
            (fuse.keyword_hits).document_ids,
            (fuse.keyword_hits).scores
        ) as k (library_id, document_id, score)
    ),
    found_by_vector as (
        select v.*, rank() over (order by v.score desc)::integer as place
        from unnest(
            (fuse.vector_hits).library_ids,
            (fuse.vector_hits).document_ids,
            (fuse.vector_hits).scores
        ) as v (library_id, document_id, score)
    ),
    -- Materialized: coalesce is not leakproof, so with row-level security no index could be used.
    candidates as materialized (
        select
            coalesce(k.library_id, v.library_id) as library_id,
            coalesce(k.document_id, v.document_id) as document_id,
            k.place as keyword_rank,
            v.place as semantic_rank,
            k.score as bm25,
            v.score as cosine
        from found_by_words as k
        full join found_by_vector as v
            on v.library_id = k.library_id and v.document_id = k.document_id
    ),
    located as (
        select
            c.library_id,
            c.document_id,
            c.keyword_rank,
            c.semantic_rank,
            i.page_id,
            i.level,
            i.section_id,
            i.text_hash,
            -- One number, because each window function below copies the columns.
            array_position(
                (select ((fuse.request).target).version_ids), i.version_id
            )::bigint << 32 | i.sort_order as place,
            row_number() over (partition by i.page_id) as place_in_page,
            q.alpha,
            q.page_evidence,
            q.title_evidence,
            q.keywords,
            q.title_keywords,
            q.type_weights,
            case
                when q.alpha < 1 and q.page_evidence > 0
                then (i.title_weights <#> q.title_keywords) ^ 2
            end as title_match,
            -- What a retriever has found has its exact score already.
            case
                when q.alpha < 1
                then greatest(coalesce(c.bm25, -(i.weights <#> q.keywords)), 0)
            end as passage_score,
            case
                when q.alpha > 0
                then greatest(
                    coalesce(
                        c.cosine,
                        (
                            select -(e.embedding <#> q.embedding)
                            from pgrag.embeddings as e
                            where e.library_id = c.library_id
                                and e.document_id = c.document_id
                                and e.model_id = q.model_id
                        )
                    ),
                    0
                )
            end as semantic_score
        from candidates as c
        join unnest((fuse.request).queries) as q on q.library_id = c.library_id
        join pgrag.impacts as i
            on i.library_id = c.library_id and i.document_id = c.document_id
    ),
    -- The page's score, its title's and the weight of its type, once per page, because the page's
    -- impacts are TOASTed.
    compared as (
        select
            l.*,
            max(
                case
                    when l.place_in_page = 1
                        and (l.alpha < 1 and l.page_evidence > 0 or l.type_weights is not null)
                    then (
                        select case
                            when l.alpha < 1 and l.page_evidence > 0
                            then array[
                                _pgrag.type_weight(p.type, l.type_weights),
                                greatest(-(p.weights <#> l.keywords), 0),
                                coalesce((p.title_weights <#> l.title_keywords) ^ 2, 0)
                            ]
                            else array[_pgrag.type_weight(p.type, l.type_weights)]
                        end
                        from pgrag.pages as p
                        where p.library_id = l.library_id and p.page_id = l.page_id
                    )
                end
            ) over (partition by l.page_id) as page
        from located as l
    ),
    scored as (
        select
            c.*,
            p.page_score,
            _pgrag.keyword_score(c.passage_score, p.page_score, c.page_evidence) as keyword_score,
            coalesce(c.page[1], 1) * case (fuse.request).fusion
                when 'rrf'
                then _pgrag.reciprocal_rank_score(
                    c.keyword_rank,
                    c.semantic_rank,
                    (fuse.request).rrf_weights,
                    (fuse.request).rrf_k
                )
                else least(
                    _pgrag.fused_score(
                        _pgrag.keyword_score(c.passage_score, p.page_score, c.page_evidence),
                        c.semantic_score,
                        c.alpha
                    ),
                    -- A weight above 1 lifts no score above 1.
                    1 / nullif(c.page[1], 0)
                )
            end as score
        from compared as c
        cross join lateral (
            select _pgrag.page_score(
                coalesce(c.page[2], 0),
                _pgrag.title_score(c.page[3], c.title_match),
                c.title_evidence
            ) as page_score
        ) as p
    ),
    -- A section's summary and its paragraphs are one text: the summary gives way to its paragraphs
    -- and lends the best paragraph its score if that is higher.
    sections as (
        select
            s.*,
            max(s.score) filter (where s.level < 2) over (partition by s.section_id)
                as summary_score,
            bool_or(s.level = 2) over (partition by s.section_id) as has_paragraph,
            row_number() over (
                partition by s.section_id, s.level
                order by s.score desc, s.place
            ) as place_in_section
        from scored as s
    ),
    settled as (
        select
            s.*,
            case
                when (fuse.request).collapse and s.level = 2 and s.place_in_section = 1
                    and s.summary_score > s.score
                then s.summary_score
            end as lent_score
        from sections as s
        where not ((fuse.request).collapse and s.level < 2 and s.has_paragraph)
    )
    select
        s.library_id,
        s.document_id,
        s.page_id,
        coalesce(s.lent_score, s.score),
        s.keyword_score,
        s.semantic_score,
        s.passage_score,
        s.page_score,
        s.keyword_rank,
        s.semantic_rank,
        s.lent_score,
        coalesce(s.lent_score, s.score),
        null::jsonb
    from settled as s
    where coalesce(s.lent_score, s.score) >= (fuse.request).min_score
    order by coalesce(s.lent_score, s.score) desc, s.place, s.text_hash, s.document_id
    limit fuse.most;
end;
$$;
