-- Few vectors are scanned exactly. For many, the HNSW index iterates until enough rows pass the
-- filters; if it gives up earlier, the exact scan is the fallback. So no filter loses candidates.
create or replace function _pgrag.vector_candidates(
    query_embedding halfvec,
    model_id bigint,
    target _pgrag.search_target,
    candidate_count integer,
    exact_limit integer
)
returns _pgrag.candidates
language plpgsql
stable
parallel safe
as $$
declare
    plan_name text := 'exact';
    nearest _pgrag.candidates;
begin
    if (target).document_count > exact_limit
        and exists (
            select
            from pg_index as i
            where i.indexrelid = to_regclass(format('pgrag.embeddings_hnsw_%s', model_id))
                and i.indisvalid
        )
    then
        plan_name := 'hnsw';
        nearest := _pgrag.nearest_by_index(query_embedding, model_id, target, candidate_count);
        if cardinality(nearest.document_ids) < least(candidate_count, (target).document_count) then
            plan_name := 'hnsw, then exact';
        end if;
    end if;
    if plan_name <> 'hnsw' then
        nearest := _pgrag.nearest(query_embedding, model_id, target, candidate_count);
    end if;
    nearest.plan := jsonb_build_object(
        'retriever', 'semantic',
        'plan', plan_name,
        'vectors', (target).document_count,
        'candidates', cardinality(nearest.document_ids)
    );
    return nearest;
end;
$$;

-- The distance of the HNSW index must be its expression, and sorted by nothing else. All arguments
-- are constants to the planner, so that the index's predicate holds and absent filters vanish.
create or replace function _pgrag.nearest(
    query_embedding halfvec,
    model_id bigint,
    target _pgrag.search_target,
    candidate_count integer,
    is_indexed boolean default false
)
returns _pgrag.candidates
language plpgsql
stable
parallel safe
as $$
declare
    nearest _pgrag.candidates;
begin
    execute format(
        $sql$
        select
            coalesce(array_agg(h.library_id order by h.distance, h.document_id), '{}'),
            coalesce(array_agg(h.document_id order by h.distance, h.document_id), '{}'),
            coalesce(array_agg(-h.distance order by h.distance, h.document_id), '{}')
        from (
            select e.library_id, e.document_id, e.embedding%1$s <#> $1%1$s as distance
            from pgrag.embeddings as e
            where e.library_id = any ($2)
                and e.version_id = any ($3)
                and e.model_id = $4
                and e.covers & $5 <> 0
                and ($6 is null or e.page_id = any ($6))
                and ($7 is null or e.document_id = any ($7))
                and ($8 is null or e.document_id <> all ($8))
            order by distance %2$s
            limit $9
        ) as h
        $sql$,
        case when is_indexed then format('::halfvec(%s)', vector_dims(query_embedding)) end,
        case
            when is_indexed then null
            when cardinality((target).version_ids) > 1
            then ', array_position($3, e.version_id), e.document_id'
            else ', e.document_id'
        end
    )
    into nearest.library_ids, nearest.document_ids, nearest.scores
    using query_embedding, (target).library_ids, (target).version_ids, model_id, (target).covers,
        (target).allowed_pages, (target).allowed_documents, (target).denied_documents,
        candidate_count;
    return nearest;
end;
$$;

-- enable_sort is off, because the planner's estimate ignores that the index scan iterates over
-- filtered rows.
create or replace function _pgrag.nearest_by_index(
    query_embedding halfvec,
    model_id bigint,
    target _pgrag.search_target,
    candidate_count integer
)
returns _pgrag.candidates
language plpgsql
stable
parallel safe
set enable_seqscan = off
set enable_sort = off
set enable_bitmapscan = off
set jit = off
set hnsw.ef_search = 120
set hnsw.iterative_scan = relaxed_order
set hnsw.max_scan_tuples = 20000
as $$
begin
    return _pgrag.nearest(query_embedding, model_id, target, candidate_count, is_indexed => true);
end;
$$;
