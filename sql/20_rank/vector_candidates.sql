-- Few vectors are scanned exactly; of many, the HNSW index finds the nearest, iterating until the
-- filters leave enough; and where it gives up, the exact scan has the last word. So there are
-- always as many rows as exist, whatever is filtered.
create or replace function pgrag._vector_candidates(
    query_embedding halfvec,
    model_id bigint,
    target pgrag.search_target,
    candidate_count integer,
    exact_limit integer
)
returns pgrag.candidates
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    plan_name text := 'exact';
    nearest pgrag.candidates;
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
        nearest := pgrag._nearest_by_index(query_embedding, model_id, target, candidate_count);
        if cardinality(nearest.document_ids) < least(candidate_count, (target).document_count) then
            plan_name := 'hnsw, then exact';
        end if;
    end if;
    if plan_name <> 'hnsw' then
        nearest := pgrag._nearest_by_scan(query_embedding, model_id, target, candidate_count);
    end if;
    nearest.plan := jsonb_build_object(
        'arm', 'semantic',
        'plan', plan_name,
        'vectors', (target).document_count,
        'candidates', cardinality(nearest.document_ids)
    );
    return nearest;
end;
$$;

create or replace function pgrag._nearest_by_scan(
    query_embedding halfvec,
    model_id bigint,
    target pgrag.search_target,
    candidate_count integer
)
returns pgrag.candidates
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    nearest pgrag.candidates;
begin
    execute format(
        $sql$
        select
            coalesce(array_agg(h.library_id order by h.distance, h.document_id), '{}'),
            coalesce(array_agg(h.document_id order by h.distance, h.document_id), '{}'),
            coalesce(array_agg(-h.distance order by h.distance, h.document_id), '{}')
        from (
            select e.library_id, e.document_id, e.embedding <#> $1 as distance
            from pgrag.embeddings as e
            where e.library_id = any ($2)
                and e.version_id = any ($3)
                and e.model_id = $4
                and e.covers & $5 <> 0 %s
            order by distance, e.document_id
            limit $9
        ) as h
        $sql$,
        pgrag._target_conditions(target, 'e')
    )
    into nearest.library_ids, nearest.document_ids, nearest.scores
    using query_embedding, (target).library_ids, (target).version_ids, model_id, (target).covers,
        (target).allowed_pages, (target).allowed_documents, (target).denied_documents,
        candidate_count;
    return nearest;
end;
$$;

-- The index answers only the expression and the condition that it was made with; sorting is priced
-- out of the plan, because its estimate knows nothing of filters that the index iterates over.
create or replace function pgrag._nearest_by_index(
    query_embedding halfvec,
    model_id bigint,
    target pgrag.search_target,
    candidate_count integer
)
returns pgrag.candidates
language plpgsql
stable
parallel safe
set search_path from current
set enable_seqscan = off
set enable_sort = off
set enable_bitmapscan = off
set jit = off
set hnsw.ef_search = 200
set hnsw.iterative_scan = relaxed_order
set hnsw.max_scan_tuples = 20000
as $$
declare
    nearest pgrag.candidates;
begin
    execute format(
        $sql$
        select
            coalesce(array_agg(h.library_id order by h.distance, h.document_id), '{}'),
            coalesce(array_agg(h.document_id order by h.distance, h.document_id), '{}'),
            coalesce(array_agg(-h.distance order by h.distance, h.document_id), '{}')
        from (
            select
                e.library_id,
                e.document_id,
                e.embedding::halfvec(%1$s) <#> $1::halfvec(%1$s) as distance
            from pgrag.embeddings as e
            where e.model_id = %2$s
                and e.library_id = any ($2)
                and e.version_id = any ($3)
                and e.covers & $5 <> 0 %3$s
            order by e.embedding::halfvec(%1$s) <#> $1::halfvec(%1$s)
            limit $9
        ) as h
        $sql$,
        vector_dims(query_embedding),
        model_id,
        pgrag._target_conditions(target, 'e')
    )
    into nearest.library_ids, nearest.document_ids, nearest.scores
    using query_embedding, (target).library_ids, (target).version_ids, model_id, (target).covers,
        (target).allowed_pages, (target).allowed_documents, (target).denied_documents,
        candidate_count;
    return nearest;
end;
$$;
