-- Both retrievers, fused, to the request's depth. A candidate of one retriever gets its exact score
-- from the other too. Hits seen in a shallower list are left out, but count towards max_per_page.
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
    -- The hits, and half as many that may replace a summary. The same for each page of results, so
    -- that a cursor leads through one list.
    certain_count integer := least(
        request.candidate_count,
        greatest(request.top_k * 3 / 2, request.candidate_count / 4)
    );
    passing _pgrag.ranked_hit[];
    query _pgrag.library_query;
    has_keywords boolean := false;
    has_vectors boolean := false;
    has_models boolean := false;
    started timestamptz := clock_timestamp();
begin
    -- A loop: a statement takes longer to start.
    foreach query in array request.queries loop
        has_keywords := has_keywords or query.alpha < 1;
        has_vectors := has_vectors or query.alpha > 0;
        has_models := has_models or query.model_id <> request.queries[1].model_id;
    end loop;
    ranking.timings := '{}';
    if has_keywords then
        keyword_hits := _pgrag.keyword_candidates(
            request.terms, request.target, request.candidate_count, certain_count
        );
        ranking.timings := _pgrag.timed(ranking.timings, 'keyword', clock_timestamp() - started);
        started := clock_timestamp();
    end if;
    if has_vectors then
        vector_hits := _pgrag.nearest_by_models(
            request, is_alone => cardinality(keyword_hits.document_ids) = 0
        );
        ranking.timings := _pgrag.timed(ranking.timings, 'semantic', clock_timestamp() - started);
        started := clock_timestamp();
    end if;

    passing := _pgrag.fuse(
        request, keyword_hits, vector_hits,
        case
            when num_nulls(
                request.max_per_page, request.after_id, nullif(request.min_confidence, 0)
            ) = 3
            then greatest(hit_count, 20)
        end,
        seen
    );
    passing := _pgrag.with_token_matches(passing, request);
    if request.min_score > 0 then
        passing := array(
            select passing[h.ordinality]
            from unnest(passing) with ordinality as h
            where h.score >= request.min_score
            order by h.ordinality
        );
    end if;
    passing := _pgrag.limited_per_page(
        _pgrag.confident(passing, request), request.max_per_page, seen
    );
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
    -- If hits are missing: the upper bound for the score of a passage that is no candidate. Page
    -- evidence is at most 1, and with several models so is the cosine.
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
                            when has_models then 1
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

-- At most hit_count hits of each page (null: all), in their order; hits of first_ids count first.
create or replace function _pgrag.limited_per_page(
    hits _pgrag.ranked_hit[],
    hit_count integer,
    first_ids bigint[] default '{}'
)
returns _pgrag.ranked_hit[]
language plpgsql
immutable
parallel safe
as $$
begin
    if hit_count is null then
        return hits;
    end if;
    return array(
        select hits[p.nth]
        from (
            select
                h.ordinality as nth,
                row_number() over (
                    partition by h.page_id
                    order by h.document_id = any (first_ids) desc, h.ordinality
                ) as rank_on_page
            from unnest(hits) with ordinality as h
        ) as p
        where p.rank_on_page <= hit_count
        order by p.nth
    );
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
