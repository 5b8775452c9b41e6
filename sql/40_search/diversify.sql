-- Maximal marginal relevance for a list that was ranked elsewhere, such as by a reranker.
create or replace function pgrag.diversify(
    document_ids bigint[],
    scores double precision[],
    mmr_lambda double precision default 0.7,
    match_count integer default 10,
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
    wanted_model bigint := pgrag._model_id(diversify.model);
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
            'There must be one score for each document, got %s documents and %s scores.',
            coalesce(cardinality(diversify.document_ids), 0),
            coalesce(cardinality(diversify.scores), 0)
        )
        when cardinality(diversify.document_ids) > 1000
        then format(
            'At most 1000 documents can be diversified, got %s.',
            cardinality(diversify.document_ids)
        )
        when array_position(diversify.document_ids, null) is not null
        then 'A document is null.'
        when diversify.scores && '{NaN,Infinity,-Infinity}'
            or array_position(diversify.scores, null) is not null
        then 'The scores must be finite numbers.'
        when (diversify.mmr_lambda between 0 and 1) is not true
        then format('mmr_lambda must be 0 to 1, got %s.', diversify.mmr_lambda)
        when (diversify.match_count between 1 and 1000) is not true
        then format('match_count must be 1 to 1000, got %s.', diversify.match_count)
    end;
    if complaint is not null then
        raise exception '%', complaint using errcode = 'PGR01';
    end if;

    select
        array_agg(u.library_id order by u.score desc, u.place),
        array_agg(u.document_id order by u.score desc, u.place),
        array_agg(u.model_id order by u.score desc, u.place),
        array_agg(u.score order by u.score desc, u.place),
        min(u.document_id) filter (where u.library_id is null)
    into library_ids, listed_ids, model_ids, relevances, missing
    from (
        -- A document that is listed twice counts once, with its best score.
        select distinct on (g.document_id)
            g.document_id,
            g.score,
            g.place,
            l.library_id,
            coalesce(wanted_model, l.model_id) as model_id
        from unnest(diversify.document_ids, diversify.scores)
            with ordinality as g (document_id, score, place)
        -- Ids are unique over all libraries: each is asked.
        left join lateral (
            select o.library_id, o.model_id
            from pgrag.libraries as o
            join pgrag.documents as d
                on d.library_id = o.library_id and d.document_id = g.document_id
        ) as l on true
        order by g.document_id, g.score desc, g.place
    ) as u;
    if missing is not null then
        raise exception 'There is no document %.', missing
            using errcode = 'PGR05', hint = 'Take the document_id of a hit.';
    end if;

    return query
    select p.new_rank, listed_ids[p.place], relevances[p.place]
    from unnest(
        pgrag._diverse_places(
            library_ids, listed_ids, model_ids, relevances, diversify.mmr_lambda,
            diversify.match_count
        )
    ) with ordinality as p (place, new_rank)
    order by p.new_rank;
end;
$$;

comment on function pgrag.diversify(bigint[], double precision[], double precision, integer, text) is
'Reorders a ranked list so that it repeats itself less: maximal marginal relevance (Carbonell,
Goldstein, SIGIR 1998). Chooses again and again the document with the largest mmr_lambda · relevance
- (1 - mmr_lambda) · the largest cosine to a document chosen before; relevance is the score divided
by the largest one (where scores are negative, both counted from the smallest). mmr_lambda: 1 keeps
the order of the scores, 0 goes by difference alone. document_ids and scores (of any scale, such as
a reranker''s) belong together by place, at most 1000. match_count: how many to choose. model: whose
vectors are compared (default: the library''s); a document without one resembles nothing. Returns
rank, document_id and the score that was given. pgrag.search does the same by its argument
mmr_lambda. Errors: PGR01 arguments, PGR05 unknown document, PGR09 model.';

-- The places that are chosen, one after the other. Each choice is compared with all of the rest by
-- one statement; a value can only fall, so that it is enough to keep the smallest seen.
create or replace function pgrag._diverse_places(
    library_ids bigint[],
    document_ids bigint[],
    model_ids bigint[],
    scores double precision[],
    mmr_lambda double precision,
    wanted integer
)
returns integer[]
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    -- Vectors of two models cannot be compared.
    one_model constant boolean := (
        select count(distinct m.model_id) < 2 from unnest(model_ids) as m (model_id)
    );
    vectors halfvec[];
    chosen_vector halfvec;
    chosen_model bigint;
    gains double precision[];
    values_left double precision[];
    likenesses double precision[];
    value_left double precision;
    largest double precision;
    place integer;
    best integer;
    chosen integer[] := '{}';
begin
    vectors := array(
        select e.embedding
        from unnest(library_ids, document_ids, model_ids)
            with ordinality as h (library_id, document_id, model_id, place)
        left join pgrag.embeddings as e
            on e.library_id = h.library_id
            and e.document_id = h.document_id
            and e.model_id = h.model_id
        order by h.place
    );
    gains := array(
        select mmr_lambda * coalesce((s.score - b.lowest) / nullif(b.highest - b.lowest, 0), 0)
        from unnest(scores) with ordinality as s (score, place)
        cross join (
            select max(u.score) as highest, least(min(u.score), 0) as lowest
            from unnest(scores) as u (score)
        ) as b
        order by s.place
    );
    values_left := gains;
    best := array_position(gains, (select max(g.gain) from unnest(gains) as g (gain)));
    while best is not null and cardinality(chosen) < coalesce(wanted, cardinality(gains)) loop
        chosen := chosen || best;
        values_left[best] := null;
        chosen_vector := vectors[best];
        vectors[best] := null;
        chosen_model := model_ids[best];
        likenesses := case
            when one_model
            then array(
                select (1 - mmr_lambda) * -(v.embedding <#> chosen_vector)
                from unnest(vectors) as v (embedding)
            )
            else array(
                select case
                    when v.model_id = chosen_model
                    then (1 - mmr_lambda) * -(v.embedding <#> chosen_vector)
                end
                from unnest(vectors, model_ids) as v (embedding, model_id)
            )
        end;
        best := null;
        largest := '-infinity';
        place := 0;
        foreach value_left in array values_left loop
            place := place + 1;
            if value_left is not null then
                value_left := least(value_left, gains[place] - likenesses[place]);
                values_left[place] := value_left;
                if value_left > largest then
                    largest := value_left;
                    best := place;
                end if;
            end if;
        end loop;
    end loop;
    return chosen;
end;
$$;
