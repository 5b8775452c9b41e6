-- With few candidates the scan is exact. With many, an HNSW index iterates until enough rows pass
-- the filters; if it gives up earlier, an exact scan follows, so no filter loses candidates. Each
-- library with an index of its own is searched alone, all others together. is_alone: the keyword
-- retriever has no hits.
create or replace function _pgrag.vector_candidates(
    query_embedding halfvec,
    model_id bigint,
    target _pgrag.search_target,
    candidate_count integer,
    exact_limit integer,
    is_alone boolean
)
returns _pgrag.candidates
language plpgsql
stable
parallel safe
as $$
declare
    -- Null: the libraries that share an index.
    owner_id bigint;
    owner_ids bigint[] := coalesce(target.own_index_ids, '{}');
    part _pgrag.search_target := target;
    of_part _pgrag.candidates;
    nearest _pgrag.candidates := ('{}', '{}', '{}', null);
begin
    if cardinality(owner_ids) < cardinality(target.library_ids) then
        owner_ids := array_append(owner_ids, null);
    end if;
    if target.document_count <= exact_limit or cardinality(owner_ids) = 1 then
        nearest := _pgrag.nearest_in_part(
            query_embedding, model_id, target, candidate_count, exact_limit, owner_ids[1], is_alone
        );
    else
        foreach owner_id in array owner_ids loop
            part.library_ids := case
                when owner_id is null
                then array(
                    select l.id
                    from unnest(target.library_ids) as l (id)
                    where l.id <> all (target.own_index_ids)
                )
                else array[owner_id]
            end;
            -- The maximum number of passages that are compared.
            part.document_count := case
                when part.allowed_documents is not null
                then (
                    select count(*)
                    from pgrag.impacts as i
                    where i.library_id = any (part.library_ids)
                        and i.document_id = any (part.allowed_documents)
                )
                when part.allowed_pages is not null
                then (
                    select coalesce(sum(p.document_count), 0)
                    from pgrag.pages as p
                    where p.library_id = any (part.library_ids)
                        and p.page_id = any (part.allowed_pages)
                )
                else (
                    select coalesce(sum(v.document_count), 0)
                    from pgrag.versions as v
                    where v.library_id = any (part.library_ids)
                        and v.version_id = any (part.version_ids)
                )
            end;
            continue when part.document_count = 0;
            of_part := _pgrag.nearest_in_part(
                query_embedding, model_id, part, candidate_count, exact_limit, owner_id, is_alone
            );
            -- Of two plan names, the alphabetically later one includes the other.
            nearest := (
                nearest.library_ids || of_part.library_ids,
                nearest.document_ids || of_part.document_ids,
                nearest.scores || of_part.scores,
                greatest(nearest.plan, of_part.plan)
            );
        end loop;
        select
            coalesce(array_agg(h.library_id), '{}'),
            coalesce(array_agg(h.document_id), '{}'),
            coalesce(array_agg(h.score), '{}')
        into nearest.library_ids, nearest.document_ids, nearest.scores
        from (
            select u.*
            from unnest(nearest.library_ids, nearest.document_ids, nearest.scores)
                as u (library_id, document_id, score)
            order by u.score desc, u.document_id
            limit candidate_count
        ) as h;
    end if;
    nearest.plan := jsonb_build_object(
        'retriever', 'semantic',
        'plan', nearest.plan,
        'vectors', target.document_count,
        'candidates', cardinality(nearest.document_ids)
    );
    return nearest;
end;
$$;

-- The nearest in libraries that share an index, or in owner_id, which has its own.
create or replace function _pgrag.nearest_in_part(
    query_embedding halfvec,
    model_id bigint,
    target _pgrag.search_target,
    candidate_count integer,
    exact_limit integer,
    owner_id bigint,
    is_alone boolean
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
    if target.document_count > exact_limit
        and exists (
            select
            from pg_index as i
            where i.indexrelid = to_regclass(
                    'pgrag.' || _pgrag.vector_index_name(model_id, owner_id)
                )::oid
                and i.indisvalid
        )
    then
        plan_name := 'hnsw';
        nearest := _pgrag.nearest_by_index(
            query_embedding, model_id, target, candidate_count, owner_id is null, is_alone
        );
        if cardinality(nearest.document_ids) < least(candidate_count, target.document_count) then
            plan_name := 'hnsw, then exact';
        end if;
    end if;
    if plan_name <> 'hnsw' then
        nearest := _pgrag.nearest(query_embedding, model_id, target, candidate_count);
    end if;
    nearest.plan := to_jsonb(plan_name);
    return nearest;
end;
$$;

-- Planned for the values of its arguments: then the predicate of an index holds (the library's id,
-- or "not own_index"), absent filters vanish, and an exact scan of few pages knows the number of
-- ids. An HNSW index is used only if rows are sorted by its expression and nothing else. With HNSW,
-- ids are always hashed: the inner select hides their number, and "is true" prevents a join.
create or replace function _pgrag.nearest(
    query_embedding halfvec,
    model_id bigint,
    target _pgrag.search_target,
    candidate_count integer,
    is_indexed boolean default false,
    is_shared boolean default false
)
returns _pgrag.candidates
language plpgsql
stable
parallel safe
set plan_cache_mode = force_custom_plan
as $$
declare
    dimensions constant integer := vector_dims(query_embedding);
    hits _pgrag.candidates;
begin
    select
        coalesce(array_agg(h.library_id order by h.distance, h.document_id), '{}'),
        coalesce(array_agg(h.document_id order by h.distance, h.document_id), '{}'),
        coalesce(array_agg(-h.distance order by h.distance, h.document_id), '{}')
    into hits.library_ids, hits.document_ids, hits.scores
    from (
        select
            e.library_id,
            e.document_id,
            -- The index has the cast to its dimensions, which is this call.
            case when is_indexed then halfvec(e.embedding, dimensions, true) else e.embedding end
                <#> query_embedding as distance
        from pgrag.embeddings as e
        where e.library_id = any (target.library_ids)
            and e.version_id = any (target.version_ids)
            and e.model_id = nearest.model_id
            and e.covers & target.covers <> 0
            and not (is_shared and e.own_index)
            and (
                target.allowed_pages is null
                or case
                    when is_indexed
                    then (
                        e.page_id in (
                            select p.id from unnest((select target.allowed_pages)) as p (id)
                        )
                    ) is true
                    else e.page_id = any (target.allowed_pages)
                end
            )
            and (
                target.allowed_documents is null
                or case
                    when is_indexed
                    then (
                        e.document_id in (
                            select d.id from unnest((select target.allowed_documents)) as d (id)
                        )
                    ) is true
                    else e.document_id = any (target.allowed_documents)
                end
            )
            and (
                target.denied_documents is null
                or case
                    when is_indexed
                    then (
                        e.document_id in (
                            select d.id from unnest((select target.denied_documents)) as d (id)
                        )
                    ) is not true
                    else e.document_id <> all (target.denied_documents)
                end
            )
        order by
            distance,
            case
                when not is_indexed and cardinality(target.version_ids) > 1
                then array_position(target.version_ids, e.version_id)
            end,
            case when not is_indexed then e.document_id end
        limit candidate_count
    ) as h;
    return hits;
end;
$$;

-- enable_sort is off, because the planner's estimate ignores that the index scan iterates over
-- filtered rows. With ef_search 120, one search in a hundred ends in a corner of the graph where
-- nothing is near, and eight miss some of their ten nearest; with 400, none and three. With keyword
-- hits, whose cosine fusion computes exactly, the additional visits gain less than they cost: half
-- as many again as the candidates are enough.
create or replace function _pgrag.nearest_by_index(
    query_embedding halfvec,
    model_id bigint,
    target _pgrag.search_target,
    candidate_count integer,
    is_shared boolean,
    is_alone boolean
)
returns _pgrag.candidates
language plpgsql
stable
parallel safe
set enable_seqscan = off
set enable_sort = off
set enable_bitmapscan = off
set jit = off
set hnsw.ef_search = 400
set hnsw.iterative_scan = relaxed_order
set hnsw.max_scan_tuples = 20000
as $$
declare
    -- In this function only, like the settings above. Assigned: perform would run a statement.
    setting text;
begin
    if not is_alone then
        setting := set_config(
            'hnsw.ef_search', least(greatest(candidate_count * 3 / 2, 60), 120)::text, true
        );
    end if;
    return _pgrag.nearest(
        query_embedding, model_id, target, candidate_count, is_indexed => true,
        is_shared => is_shared
    );
end;
$$;
