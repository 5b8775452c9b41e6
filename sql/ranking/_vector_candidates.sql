-- Few vectors are scanned exactly. For many, an HNSW index iterates until enough rows pass the
-- filters; if it gives up earlier, the exact scan is the fallback. So no filter loses candidates.
-- Each library with an index of its own is asked by itself, all others together. is_alone: the
-- keyword retriever has no hits beside these.
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
    -- Null: those that share an index.
    owner_id bigint;
    owner_ids bigint[] := coalesce(target.own_index_ids, '{}');
    part _pgrag.search_target := target;
    nearest _pgrag.candidates;
begin
    if cardinality(owner_ids) < cardinality(target.library_ids) then
        owner_ids := array_append(owner_ids, null);
    end if;
    if target.document_count <= exact_limit or cardinality(owner_ids) = 1 then
        nearest := _pgrag.nearest_in_part(
            query_embedding, model_id, target, candidate_count, exact_limit, owner_ids[1], is_alone
        );
    else
        nearest := ('{}', '{}', '{}', null);
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
            part.document_count := _pgrag.passages_in_part(part);
            continue when part.document_count = 0;
            nearest := _pgrag.nearest_of_both(
                nearest,
                _pgrag.nearest_in_part(
                    query_embedding, model_id, part, candidate_count, exact_limit, owner_id,
                    is_alone
                ),
                candidate_count
            );
        end loop;
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

-- At most so many passages are searched in some of the libraries of a target.
create or replace function _pgrag.passages_in_part(
    target _pgrag.search_target
)
returns bigint
language sql
stable
parallel safe
as $$
    select case
        when (target).allowed_documents is not null
        then (
            select count(*)
            from pgrag.impacts as i
            where i.library_id = any ((target).library_ids)
                and i.document_id = any ((target).allowed_documents)
        )
        when (target).allowed_pages is not null
        then (
            select coalesce(sum(p.document_count), 0)
            from pgrag.pages as p
            where p.library_id = any ((target).library_ids)
                and p.page_id = any ((target).allowed_pages)
        )
        else (
            select coalesce(sum(v.document_count), 0)
            from pgrag.versions as v
            where v.library_id = any ((target).library_ids)
                and v.version_id = any ((target).version_ids)
        )
    end;
$$;

-- The nearest of libraries with one index, with the plan's name. owner_id: whose index it is.
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

-- The nearest of two lists. Plans are named so that the later in the alphabet tells more.
create or replace function _pgrag.nearest_of_both(
    one _pgrag.candidates,
    other _pgrag.candidates,
    candidate_count integer
)
returns _pgrag.candidates
language plpgsql
immutable
parallel safe
as $$
declare
    nearest _pgrag.candidates;
begin
    select
        coalesce(array_agg(h.library_id), '{}'),
        coalesce(array_agg(h.document_id), '{}'),
        coalesce(array_agg(h.score), '{}')
    into nearest.library_ids, nearest.document_ids, nearest.scores
    from (
        select b.*
        from (
            select l.*
            from unnest(one.library_ids, one.document_ids, one.scores)
                as l (library_id, document_id, score)
            union all
            select r.*
            from unnest(other.library_ids, other.document_ids, other.scores)
                as r (library_id, document_id, score)
        ) as b
        order by b.score desc, b.document_id
        limit candidate_count
    ) as h;
    nearest.plan := greatest(one.plan, other.plan);
    return nearest;
end;
$$;

-- The distance of an HNSW index must be its expression, and sorted by nothing else. All arguments
-- are constants to the planner, so that the index's predicate holds and absent filters vanish. That
-- of a library's own index is its id, that of the shared one "not own_index".
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
        _pgrag.one_of('e.page_id', '$6', is_indexed),
        _pgrag.one_of('e.document_id', '$7', is_indexed),
        _pgrag.one_of('e.document_id', '$8', is_indexed)
    )
    into nearest.library_ids, nearest.document_ids, nearest.scores
    using query_embedding, (target).library_ids, (target).version_ids, model_id, (target).covers,
        (target).allowed_pages, (target).allowed_documents, (target).denied_documents,
        candidate_count;
    return nearest;
end;
$$;

-- The condition that a column has one of these ids. Of an array the planner weighs each element, as
-- an exact scan of few pages needs; where thousands are allowed, that takes longer than a search by
-- HNSW. There they are hashed, however many: the inner select hides their number. "is true" keeps
-- the planner from a join.
create or replace function _pgrag.one_of(
    name text,
    ids text,
    is_hashed boolean
)
returns text
language sql
immutable
parallel safe
as $$
    select format(
        case
            when is_hashed then '((%s in (select l.id from unnest((select %s)) as l (id))) is true)'
            else '(%s = any (%s))'
        end,
        one_of.name,
        one_of.ids
    );
$$;

-- enable_sort is off, because the planner's estimate ignores that the index scan iterates over
-- filtered rows. With an ef_search of 120, one search of a hundred ends in a corner of the graph
-- where nothing is near, and eight miss some of their ten nearest; with 400, none and three. Beside
-- hits by words, of which fusion computes the exact cosine, the visits cost more than they give.
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
    -- Like the settings above, in this function only. Assigned, because perform runs a statement.
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
