-- Libraries may use different models; vectors are compared only within one model. is_alone: words
-- have no hits, or are not searched.
create or replace function _pgrag.nearest_by_models(
    request _pgrag.search_request,
    is_alone boolean
)
returns _pgrag.candidates
language plpgsql
stable
parallel safe
as $$
declare
    query record;
    target _pgrag.search_target := request.target;
    nearest _pgrag.candidates;
    all_hits _pgrag.candidates := ('{}', '{}', '{}', null);
begin
    if cardinality(request.queries) = 1 then
        return _pgrag.vector_candidates(
            request.queries[1].embedding, request.queries[1].model_id, target,
            request.candidate_count, request.exact_limit, is_alone
        );
    end if;
    for query in
        select q.model_id, q.embedding, array_agg(q.library_id) as library_ids
        from unnest(request.queries) as q
        where q.alpha > 0
        group by q.model_id, q.embedding
        order by q.model_id
    loop
        target.library_ids := query.library_ids;
        target.own_index_ids := array(
            select o.id
            from unnest((request.target).own_index_ids) as o (id)
            where o.id = any (query.library_ids)
        );
        nearest := _pgrag.vector_candidates(
            query.embedding, query.model_id, target, request.candidate_count,
            request.exact_limit, is_alone
        );
        all_hits := (
            all_hits.library_ids || nearest.library_ids,
            all_hits.document_ids || nearest.document_ids,
            all_hits.scores || nearest.scores,
            coalesce(all_hits.plan, nearest.plan)
        );
    end loop;
    select array_agg(h.library_id), array_agg(h.document_id), array_agg(h.score)
    into all_hits.library_ids, all_hits.document_ids, all_hits.scores
    from (
        select u.*
        from unnest(all_hits.library_ids, all_hits.document_ids, all_hits.scores)
            as u (library_id, document_id, score)
        order by u.score desc, u.document_id
    ) as h;
    return all_hits;
end;
$$;
