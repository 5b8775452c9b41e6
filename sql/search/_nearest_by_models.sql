-- Libraries may use different models; vectors are compared only within one model. is_alone: words
-- have found nothing, or are not searched.
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
    one_model record;
    sole constant _pgrag.library_query := request.queries[1];
    target _pgrag.search_target;
    found_hits _pgrag.candidates;
    all_hits _pgrag.candidates := ('{}', '{}', '{}', null);
begin
    if cardinality(request.queries) = 1 then
        return _pgrag.vector_candidates(
            sole.embedding, sole.model_id, request.target, request.candidate_count,
            request.exact_limit, is_alone
        );
    end if;
    for one_model in
        select q.model_id, q.embedding, array_agg(q.library_id) as library_ids
        from unnest(request.queries) as q
        where q.alpha > 0
        group by q.model_id, q.embedding
        order by q.model_id
    loop
        target := request.target;
        target.library_ids := one_model.library_ids;
        target.own_index_ids := array(
            select o.id
            from unnest((request.target).own_index_ids) as o (id)
            where o.id = any (one_model.library_ids)
        );
        found_hits := _pgrag.vector_candidates(
            one_model.embedding, one_model.model_id, target, request.candidate_count,
            request.exact_limit, is_alone
        );
        all_hits.library_ids := all_hits.library_ids || found_hits.library_ids;
        all_hits.document_ids := all_hits.document_ids || found_hits.document_ids;
        all_hits.scores := all_hits.scores || found_hits.scores;
        all_hits.plan := coalesce(all_hits.plan, found_hits.plan);
    end loop;
    return all_hits;
end;
$$;
