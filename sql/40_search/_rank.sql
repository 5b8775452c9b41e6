-- Both arms, fused. What one arm found gets its exact score from the other arm too: an absent hit
-- is scored, never guessed.
create or replace function pgrag._rank(
    request pgrag.search_request
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
begin
    if exists (select from unnest(request.queries) as q where q.alpha < 1) then
        keyword_hits := pgrag._keyword_candidates(
            request.terms,
            request.target,
            request.candidate_count,
            least(
                request.candidate_count,
                greatest(2 * request.match_count, 20, request.candidate_count / 5)
            )
        );
    end if;
    if exists (select from unnest(request.queries) as q where q.alpha > 0) then
        vector_hits := pgrag._nearest_by_models(request);
    end if;

    ranking.hits := array(
        select row(
            f.library_id, f.document_id, f.page_id, f.score, f.keyword_score, f.semantic_score,
            f.passage_score, f.page_score, f.keyword_rank, f.semantic_rank, f.section_score
        )::pgrag.ranked_hit
        from pgrag._fuse(request, keyword_hits, vector_hits) as f
        where f.score >= request.min_score
            and (request.max_per_page is null or f.place_on_page <= request.max_per_page)
            and (
                request.after_score is null
                or f.score < request.after_score
                or (f.score = request.after_score and f.document_id > request.after_id)
            )
        order by f.score desc, f.document_id
        limit request.match_count
    );
    ranking.plans := to_jsonb(array_remove(array[keyword_hits.plan, vector_hits.plan], null));
    ranking.exhausted := cardinality(keyword_hits.document_ids) < request.candidate_count
        and keyword_hits.plan ->> 'plan' is distinct from 'pruned'
        and cardinality(vector_hits.document_ids) < request.candidate_count;
    return ranking;
end;
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
    section_score double precision,
    place_on_page bigint
)
language sql
stable
parallel safe
set search_path from current
as $$
    with keyword_hits as (
        select k.library_id, k.document_id, k.place
        from unnest((_fuse.keyword_hits).library_ids, (_fuse.keyword_hits).document_ids)
            with ordinality as k (library_id, document_id, place)
    ),
    vector_hits as (
        select
            v.library_id,
            v.document_id,
            row_number() over (order by v.score desc, v.document_id) as place
        from unnest(
            (_fuse.vector_hits).library_ids,
            (_fuse.vector_hits).document_ids,
            (_fuse.vector_hits).scores
        ) as v (library_id, document_id, score)
    ),
    candidates as (
        select
            coalesce(k.library_id, v.library_id) as library_id,
            coalesce(k.document_id, v.document_id) as document_id,
            k.place as keyword_rank,
            v.place as semantic_rank
        from keyword_hits as k
        full join vector_hits as v on v.document_id = k.document_id
    ),
    located as materialized (
        select
            c.library_id,
            c.document_id,
            c.keyword_rank,
            c.semantic_rank,
            d.page_id,
            d.parent_id,
            d.level,
            q.alpha,
            q.page_evidence,
            case when q.alpha < 1 then greatest(coalesce(-(d.weights <#> q.keywords), 0), 0) end
                as passage_score,
            case when q.alpha > 0 then greatest(coalesce(-(e.embedding <#> q.embedding), 0), 0) end
                as semantic_score
        from candidates as c
        join unnest((_fuse.request).queries) as q on q.library_id = c.library_id
        join pgrag.documents as d
            on d.library_id = c.library_id and d.document_id = c.document_id
        left join pgrag.embeddings as e
            on e.library_id = c.library_id
            and e.document_id = c.document_id
            and e.model_id = q.model_id
    ),
    -- Once a page: its impacts lie out of line.
    page_scores as materialized (
        select
            p.library_id,
            p.page_id,
            greatest(coalesce(-(p.weights <#> q.keywords), 0), 0) as page_score
        from (
            select distinct l.library_id, l.page_id
            from located as l
            where l.alpha < 1 and l.page_evidence > 0
        ) as l
        join unnest((_fuse.request).queries) as q on q.library_id = l.library_id
        join pgrag.pages as p on p.library_id = l.library_id and p.page_id = l.page_id
    ),
    compared as (
        select l.*, coalesce(p.page_score, 0) as page_score
        from located as l
        left join page_scores as p on p.library_id = l.library_id and p.page_id = l.page_id
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
            summary.score as section_score,
            row_number() over (
                partition by s.parent_id, s.level
                order by s.score desc, s.document_id
            ) as place_in_section
        from scored as s
        left join scored as summary
            on (_fuse.request).collapse
            and s.level = 2
            and summary.level < 2
            and summary.document_id = s.parent_id
    ),
    settled as (
        select
            s.*,
            case
                when s.place_in_section = 1 then greatest(s.score, s.section_score)
                else s.score
            end as settled_score
        from sections as s
        where not (
            (_fuse.request).collapse
            and s.level < 2
            and exists (
                select from scored as c where c.parent_id = s.document_id and c.level = 2
            )
        )
    )
    select
        s.library_id,
        s.document_id,
        s.page_id,
        s.settled_score,
        s.keyword_score,
        s.semantic_score,
        s.passage_score,
        s.page_score,
        s.keyword_rank::integer,
        s.semantic_rank::integer,
        case when s.settled_score > s.score then s.section_score end,
        row_number() over (
            partition by s.page_id
            order by s.settled_score desc, s.document_id
        )
    from settled as s;
$$;
