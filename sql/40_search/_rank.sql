-- Both arms, fused, to the request's depth. What one arm found gets its exact score from the other
-- arm too: an absent hit is scored, never guessed. Hits already seen (by a shallower list) are left
-- out, but still count for their page.
create or replace function pgrag._rank(
    request pgrag.search_request,
    seen bigint[],
    wanted integer
)
returns pgrag.ranking
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    ranking pgrag.ranking;
    keyword_hits pgrag.candidates := ('{}', '{}', '{}', null);
    vector_hits pgrag.candidates := ('{}', '{}', '{}', null);
    certain_count integer := least(
        request.candidate_count,
        greatest(2 * request.match_count, 20, request.candidate_count / 5)
    );
    passing pgrag.ranked_hit[];
    started timestamptz := clock_timestamp();
begin
    ranking.timings := '{}';
    if exists (select from unnest(request.queries) as q where q.alpha < 1) then
        keyword_hits := pgrag._keyword_candidates(
            request.terms, request.target, request.candidate_count, certain_count
        );
        ranking.timings := pgrag._timed(ranking.timings, 'keyword', started);
        started := clock_timestamp();
    end if;
    if exists (select from unnest(request.queries) as q where q.alpha > 0) then
        vector_hits := pgrag._nearest_by_models(request);
        ranking.timings := pgrag._timed(ranking.timings, 'semantic', started);
        started := clock_timestamp();
    end if;

    passing := array(
        select row(
            p.library_id, p.document_id, p.page_id, p.score, p.keyword_score, p.semantic_score,
            p.passage_score, p.page_score, p.keyword_rank, p.semantic_rank, p.section_score,
            p.score, null
        )::pgrag.ranked_hit
        from (
            select
                f.*,
                row_number() over (
                    partition by f.page_id
                    order by f.document_id = any (seen) desc, f.score desc, f.document_id
                ) as place_on_page
            from pgrag._fuse(request, keyword_hits, vector_hits) as f
            where f.score >= request.min_score
        ) as p
        where request.max_per_page is null or p.place_on_page <= request.max_per_page
        order by p.score desc, p.document_id
    );
    ranking.hits := array(
        select h
        from unnest(passing) as h
        where h.document_id <> all (seen)
            and (
                request.after_score is null
                or h.score < request.after_score
                or (h.score = request.after_score and h.document_id > request.after_id)
            )
        order by h.score desc, h.document_id
        limit wanted
    );
    ranking.listed := array(select h.document_id from unnest(passing) as h);
    ranking.timings := pgrag._timed(ranking.timings, 'fusion', started);
    ranking.plans := to_jsonb(array_remove(array[keyword_hits.plan, vector_hits.plan], null));
    ranking.exhausted := cardinality(keyword_hits.document_ids) < request.candidate_count
        and keyword_hits.plan ->> 'plan' is distinct from 'pruned'
        and cardinality(vector_hits.document_ids) < request.candidate_count;
    ranking.bound := pgrag._unseen_bound(request, keyword_hits, vector_hits, certain_count);
    return ranking;
end;
$$;

-- What a step took, in milliseconds, beside what the others did.
create or replace function pgrag._timed(
    timings jsonb,
    step text,
    started timestamptz
)
returns jsonb
language sql
stable
parallel safe
as $$
    select coalesce(_timed.timings, '{}') || pg_catalog.jsonb_build_object(
        _timed.step,
        pg_catalog.round(
            extract(epoch from pg_catalog.clock_timestamp() - _timed.started) * 1000, 3
        )
    );
$$;

-- The most that a document can score which neither arm has found. (A page's evidence is at most 1,
-- and so is a cosine where several models were asked.)
create or replace function pgrag._unseen_bound(
    request pgrag.search_request,
    keyword_hits pgrag.candidates,
    vector_hits pgrag.candidates,
    certain_count integer
)
returns double precision
language sql
stable
parallel safe
set search_path from current
as $$
    select case (_unseen_bound.request).fusion
        when 'rrf'
        then ((_unseen_bound.request).rrf_weights)[1]
                / ((_unseen_bound.request).rrf_k + _unseen_bound.certain_count)
            + ((_unseen_bound.request).rrf_weights)[2]
                / ((_unseen_bound.request).rrf_k + (_unseen_bound.request).candidate_count)
        else max(
            (1 - q.alpha) * ((1 - q.page_evidence) * arms.keyword + q.page_evidence)
            + q.alpha * arms.semantic
        )
    end
    from unnest((_unseen_bound.request).queries) as q
    cross join (
        select
            coalesce(((_unseen_bound.keyword_hits).scores)[_unseen_bound.certain_count], 0)
                as keyword,
            case
                when (
                    select count(distinct m.model_id)
                    from unnest((_unseen_bound.request).queries) as m
                ) > 1
                then 1
                else coalesce(
                    ((_unseen_bound.vector_hits).scores)[
                        (_unseen_bound.request).candidate_count
                    ],
                    0
                )
            end as semantic
    ) as arms;
$$;

-- Libraries may use different models; the vectors of each are compared among themselves.
create or replace function pgrag._nearest_by_models(
    request pgrag.search_request
)
returns pgrag.candidates
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    one_model record;
    target pgrag.search_target;
    found_hits pgrag.candidates;
    all_hits pgrag.candidates := ('{}', '{}', '{}', null);
begin
    for one_model in
        select q.model_id, q.embedding, array_agg(q.library_id) as library_ids
        from unnest(request.queries) as q
        where q.alpha > 0
        group by q.model_id, q.embedding
        order by q.model_id
    loop
        target := request.target;
        target.library_ids := one_model.library_ids;
        found_hits := pgrag._vector_candidates(
            one_model.embedding, one_model.model_id, target, request.candidate_count,
            request.exact_limit
        );
        all_hits.library_ids := all_hits.library_ids || found_hits.library_ids;
        all_hits.document_ids := all_hits.document_ids || found_hits.document_ids;
        all_hits.scores := all_hits.scores || found_hits.scores;
        all_hits.plan := coalesce(all_hits.plan, found_hits.plan);
    end loop;
    return all_hits;
end;
$$;

-- Two hundred rows at the most: what belongs to a page or to a section is found by windows over
-- them, because joins between rows that the planner cannot count become nested loops.
create or replace function pgrag._fuse(
    request pgrag.search_request,
    keyword_hits pgrag.candidates,
    vector_hits pgrag.candidates
)
returns table (
    library_id bigint,
    document_id bigint,
    page_id bigint,
    score double precision,
    keyword_score double precision,
    semantic_score double precision,
    passage_score double precision,
    page_score double precision,
    keyword_rank integer,
    semantic_rank integer,
    section_score double precision
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
begin
    return query
    with found_by_an_arm as (
        select k.library_id, k.document_id, k.place as keyword_rank, null::bigint as semantic_rank
        from unnest((_fuse.keyword_hits).library_ids, (_fuse.keyword_hits).document_ids)
            with ordinality as k (library_id, document_id, place)
        union all
        select
            v.library_id,
            v.document_id,
            null,
            row_number() over (order by v.score desc, v.document_id)
        from unnest(
            (_fuse.vector_hits).library_ids,
            (_fuse.vector_hits).document_ids,
            (_fuse.vector_hits).scores
        ) as v (library_id, document_id, score)
    ),
    candidates as (
        select
            f.library_id,
            f.document_id,
            min(f.keyword_rank)::integer as keyword_rank,
            min(f.semantic_rank)::integer as semantic_rank
        from found_by_an_arm as f
        group by f.library_id, f.document_id
    ),
    located as (
        select
            c.*,
            d.page_id,
            d.level,
            case when d.level = 2 then d.parent_id else d.document_id end as section_id,
            q.alpha,
            q.page_evidence,
            q.title_evidence,
            q.keywords,
            p.weights as page_weights,
            case
                when q.alpha < 1 and q.page_evidence > 0
                then pgrag._title_score(q.title_keywords, p.title_weights, d.title_weights)
            end as title_score,
            row_number() over (partition by d.page_id) as place_in_page,
            case when q.alpha < 1 then greatest(coalesce(-(d.weights <#> q.keywords), 0), 0) end
                as passage_score,
            case when q.alpha > 0 then greatest(coalesce(-(e.embedding <#> q.embedding), 0), 0) end
                as semantic_score
        from candidates as c
        join unnest((_fuse.request).queries) as q on q.library_id = c.library_id
        join pgrag.documents as d
            on d.library_id = c.library_id and d.document_id = c.document_id
        join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
        left join pgrag.embeddings as e
            on e.library_id = c.library_id
            and e.document_id = c.document_id
            and e.model_id = q.model_id
    ),
    -- Once a page: its impacts lie out of line.
    compared as (
        select
            l.*,
            (1 - l.title_evidence) * coalesce(
                max(
                    case
                        when l.place_in_page = 1 and l.alpha < 1 and l.page_evidence > 0
                        then greatest(-(l.page_weights <#> l.keywords), 0)
                    end
                ) over (partition by l.page_id),
                0
            ) + l.title_evidence * coalesce(l.title_score, 0) as page_score
        from located as l
    ),
    scored as (
        select
            c.*,
            (1 - c.page_evidence) * c.passage_score + c.page_evidence * c.page_score
                as keyword_score,
            case (_fuse.request).fusion
                when 'rrf'
                then coalesce(
                        ((_fuse.request).rrf_weights)[1]
                        / ((_fuse.request).rrf_k + c.keyword_rank),
                        0
                    )
                    + coalesce(
                        ((_fuse.request).rrf_weights)[2]
                        / ((_fuse.request).rrf_k + c.semantic_rank),
                        0
                    )
                else (1 - c.alpha) * coalesce(
                        (1 - c.page_evidence) * c.passage_score + c.page_evidence * c.page_score,
                        0
                    )
                    + c.alpha * coalesce(c.semantic_score, 0)
            end as score
        from compared as c
    ),
    -- A section's summary and its paragraphs are one text: the summary gives way to them, and lends
    -- the best of them its score where that is higher.
    sections as (
        select
            s.*,
            max(s.score) filter (where s.level < 2) over (partition by s.section_id)
                as summary_score,
            bool_or(s.level = 2) over (partition by s.section_id) as has_paragraph,
            row_number() over (
                partition by s.section_id, s.level
                order by s.score desc, s.document_id
            ) as place_in_section
        from scored as s
    ),
    settled as (
        select
            s.*,
            case
                when (_fuse.request).collapse and s.level = 2 and s.place_in_section = 1
                    and s.summary_score > s.score
                then s.summary_score
            end as lent_score
        from sections as s
        where not ((_fuse.request).collapse and s.level < 2 and s.has_paragraph)
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
        s.lent_score
    from settled as s;
end;
$$;
