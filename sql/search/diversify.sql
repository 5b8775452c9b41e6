create or replace function pgrag.diversify(
    document_ids bigint[],
    scores double precision[],
    mmr_lambda double precision default 0.7,
    top_k integer default 10,
    model text default null
)
returns table (
    rank bigint,
    document_id bigint,
    score double precision
)
language plpgsql
stable
parallel safe
rows 10
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted_model bigint := _pgrag.model_id(diversify.model);
    complaint text;
    missing bigint;
    library_ids bigint[];
    listed_ids bigint[];
    model_ids bigint[];
    relevances double precision[];
begin
    complaint := case
        when cardinality(diversify.document_ids) is distinct from cardinality(diversify.scores)
        then format(
            'There must be one score for each passage, got %s passages and %s scores.',
            coalesce(cardinality(diversify.document_ids), 0),
            coalesce(cardinality(diversify.scores), 0)
        )
        when cardinality(diversify.document_ids) > 1000
        then format(
            'At most 1000 passages can be diversified, got %s.',
            cardinality(diversify.document_ids)
        )
        when array_ndims(diversify.document_ids) > 1 or array_ndims(diversify.scores) > 1
        then 'document_ids and scores must be lists without lists in them.'
        when array_position(diversify.document_ids, null) is not null
        then 'A document_id is null.'
        when 1e100 < any (diversify.scores)  -- also NaN
            or -1e100 > any (diversify.scores)
            or array_position(diversify.scores, null) is not null
        then 'The scores must be finite numbers of at most 1e100.'
        when (diversify.mmr_lambda between 0 and 1) is not true
        then format('mmr_lambda must be 0 to 1, got %s.', diversify.mmr_lambda)
        when (diversify.top_k between 1 and 1000) is not true
        then format('top_k must be 1 to 1000, got %s.', diversify.top_k)
    end;
    if complaint is not null then
        raise exception '%', complaint using errcode = 'PGR01';
    end if;

    select
        array_agg(u.library_id order by u.score desc, u.nth),
        array_agg(u.document_id order by u.score desc, u.nth),
        array_agg(u.model_id order by u.score desc, u.nth),
        array_agg(u.score order by u.score desc, u.nth),
        min(u.document_id) filter (where u.library_id is null)
    into library_ids, listed_ids, model_ids, relevances, missing
    from (
        -- A passage that is listed twice counts once, with its best score.
        select distinct on (g.document_id)
            g.document_id, g.score, g.nth, l.library_id,
            coalesce(wanted_model, l.model_id) as model_id
        from unnest(diversify.document_ids, diversify.scores)
            with ordinality as g (document_id, score, nth)
        -- Ids are unique across libraries, but the primary key begins with library_id.
        left join lateral (
            select o.library_id, o.model_id
            from pgrag.libraries as o
            join pgrag.documents as d
                on d.library_id = o.library_id and d.document_id = g.document_id
        ) as l on true
        order by g.document_id, g.score desc, g.nth
    ) as u;
    if missing is not null then
        raise exception 'There is no passage %.', missing
            using errcode = 'PGR05', hint = 'Take the document_id of a hit.';
    end if;

    return query
    select p.new_rank, listed_ids[p.nth], relevances[p.nth]
    from unnest(
        _pgrag.diverse_places(
            library_ids, listed_ids, model_ids, relevances, diversify.mmr_lambda,
            diversify.top_k
        )
    ) with ordinality as p (nth, new_rank)
    order by p.new_rank;
end;
$$;

comment on function pgrag.diversify is
'Diversifies a ranked list by maximal marginal relevance (Carbonell, Goldstein, SIGIR 1998).
Repeatedly chooses the passage with the largest mmr_lambda · relevance - (1 - mmr_lambda) · the
largest cosine to a passage already chosen; relevance is the score divided by the largest score (if
scores are negative, both are counted from the smallest). mmr_lambda: 1 keeps the order of the
scores, 0 ranks by diversity alone. document_ids and scores (of any scale, as a reranker''s are) are
parallel arrays of at most 1000 items. top_k: how many to choose. model: the model whose vectors
are compared (default: the library''s); a passage without a vector is similar to none. Returns rank,
document_id and the original score. pgrag.search does the same with its argument mmr_lambda.
Errors: PGR01 arguments, PGR05 unknown passage, PGR09 model.';

-- The chosen positions, in order. Each choice is compared with all hits that remain; the value of a
-- hit can only fall, so the smallest is kept.
create or replace function _pgrag.diverse_places(
    library_ids bigint[],
    document_ids bigint[],
    model_ids bigint[],
    scores double precision[],
    mmr_lambda double precision,
    hit_count integer
)
returns integer[]
language plpgsql
stable
parallel safe
as $$
declare
    vectors halfvec[];
    chosen_vector halfvec;
    chosen_model bigint;
    -- Products and quotients of smaller numbers could underflow.
    relevances constant double precision[] := array(
        select u.score * (abs(u.score) >= 1e-100)::integer
        from unnest(scores) with ordinality as u (score, nth)
        order by u.nth
    );
    share constant double precision := mmr_lambda * (mmr_lambda >= 1e-100)::integer;
    gains double precision[];
    values_left double precision[];
    best integer;
    chosen integer[] := '{}';
begin
    vectors := array(
        select e.embedding
        from unnest(library_ids, document_ids, model_ids)
            with ordinality as h (library_id, document_id, model_id, nth)
        left join pgrag.embeddings as e
            on e.library_id = h.library_id
            and e.document_id = h.document_id
            and e.model_id = h.model_id
        order by h.nth
    );
    gains := array(
        select share * coalesce((s.score - b.lowest) / nullif(b.highest - b.lowest, 0), 0)
        from unnest(relevances) with ordinality as s (score, nth)
        cross join (
            select max(u.score) as highest, least(min(u.score), 0) as lowest
            from unnest(relevances) as u (score)
        ) as b
        order by s.nth
    );
    values_left := gains;
    while cardinality(chosen) < least(hit_count, cardinality(gains)) loop
        best := array_position(values_left, (select max(v) from unnest(values_left) as v));
        chosen := chosen || best;
        values_left[best] := null;
        chosen_vector := vectors[best];
        chosen_model := model_ids[best];
        values_left := array(
            select case
                -- Vectors of two models cannot be compared.
                when v.value_left is null or v.model_id <> chosen_model then v.value_left
                else least(
                    v.value_left, v.gain - (1 - mmr_lambda) * -(v.embedding <#> chosen_vector)
                )
            end
            from unnest(values_left, gains, vectors, model_ids)
                as v (value_left, gain, embedding, model_id)
        );
    end loop;
    return chosen;
end;
$$;
