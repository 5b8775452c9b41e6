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
                )
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

-- An HNSW index is used only if rows are sorted by its expression and nothing else. All arguments
-- are constants to the planner, so that the predicate of the index holds (the library's id, or "not
-- own_index") and absent filters vanish. An exact scan of few pages needs the number of ids in the
-- estimate, which an array gives. With HNSW, ids are always hashed: the inner select hides their
-- number, and "is true" prevents a join.
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
as $$
declare
    nearest _pgrag.candidates;
    is_one_of constant text := case
        when is_indexed then '((%s in (select l.id from unnest((select %s)) as l (id))) is true)'
        else '(%s = any (%s))'
    end;
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
                %3$s
                and ($6 is null or %4$s)
                and ($7 is null or %5$s)
                and ($8 is null or not %6$s)
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
        end,
        case when is_shared then 'and not e.own_index' end,
        format(is_one_of, 'e.page_id', '$6'),
        format(is_one_of, 'e.document_id', '$7'),
        format(is_one_of, 'e.document_id', '$8')
    )
    into nearest.library_ids, nearest.document_ids, nearest.scores
    using query_embedding, (target).library_ids, (target).version_ids, model_id, (target).covers,
        (target).allowed_pages, (target).allowed_documents, (target).denied_documents,
        candidate_count;
    return nearest;
end;
$$;

-- enable_sort is off, because the planner's estimate ignores that the index scan iterates over
-- filtered rows. With ef_search 120, one search in a hundred ends in a corner of the graph where
-- nothing is near, and eight miss some of their ten nearest; with 400, none and three. With keyword
-- hits, whose cosine fusion computes exactly, the additional visits gain less than they cost.
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
        setting := set_config('hnsw.ef_search', '120', true);
    end if;
    return _pgrag.nearest(
        query_embedding, model_id, target, candidate_count, is_indexed => true,
        is_shared => is_shared
    );
end;
$$;
