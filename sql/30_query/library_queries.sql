-- One query, seen by each library: its own idf, its own model, its own weights.
create or replace function pgrag._library_queries(
    words text,
    library_ids bigint[],
    terms pgrag.query_term[],
    alpha double precision,
    page_evidence double precision,
    model text,
    query_embedding halfvec,
    strategy jsonb
)
returns pgrag.library_query[]
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    wanted_model bigint := pgrag._model_id(model);
    models bigint[];
    embeddings halfvec[];
begin
    select array_agg(distinct coalesce(wanted_model, l.model_id))
    into models
    from pgrag.libraries as l
    where l.library_id = any (_library_queries.library_ids);
    if query_embedding is not null and cardinality(models) > 1 then
        raise exception 'The libraries searched use % models; query_embedding fits one.',
            cardinality(models)
            using errcode = 'PGR01', hint = 'Name the model, or search one library.';
    end if;
    if alpha is distinct from 0 then
        embeddings := array(
            select pgrag._query_embedding(words, u.model_id, query_embedding)
            from unnest(models) with ordinality as u (model_id, place)
            order by u.place
        );
    end if;

    return array(
        select row(
            l.library_id,
            m.model_id,
            keywords.vectors[array_position(keywords.library_ids, l.library_id)],
            embeddings[array_position(models, m.model_id)],
            case
                when embeddings[array_position(models, m.model_id)] is null then 0
                else coalesce(
                    _library_queries.alpha,
                    pgrag._chosen_alpha(strategy, pgrag._alpha(l.settings, m.alpha))
                )
            end,
            coalesce(
                _library_queries.page_evidence,
                (pgrag.effective_settings(l.settings) ->> 'page_evidence')::real
            ),
            -- What was typed, without what expansion has added to the terms.
            pgrag._title_vector(
                array(
                    select distinct t.language
                    from unnest(_library_queries.terms) as t
                    where t.library_id = l.library_id
                ),
                _library_queries.words
            ),
            (pgrag.effective_settings(l.settings) ->> 'title_evidence')::real
        )::pgrag.library_query
        from pgrag.libraries as l
        join pgrag.embedding_models as m on m.model_id = coalesce(wanted_model, l.model_id)
        cross join pgrag._query_vectors(_library_queries.terms) as keywords
        where l.library_id = any (_library_queries.library_ids)
        order by l.library_id
    );
end;
$$;

-- A kind of question may want a share of its own, or more or less than usual.
create or replace function pgrag._chosen_alpha(
    strategy jsonb,
    usual double precision
)
returns double precision
language sql
immutable
parallel safe
as $$
    select least(greatest(
        coalesce((_chosen_alpha.strategy ->> 'alpha')::double precision, _chosen_alpha.usual)
        + coalesce((_chosen_alpha.strategy ->> 'alpha_offset')::double precision, 0),
        0
    ), 1);
$$;

-- The library's, else its model's, else the one of this session, else the default.
create or replace function pgrag._alpha(
    settings jsonb,
    model_alpha double precision
)
returns double precision
language sql
stable
parallel safe
as $$
    select coalesce(
        (_alpha.settings ->> 'alpha')::double precision,
        _alpha.model_alpha,
        nullif(pg_catalog.current_setting('pgrag.hybrid_alpha', true), '')::double precision,
        (pgrag.default_settings() ->> 'alpha')::double precision
    );
$$;

-- From the caller, from the database's own model, or from the vectors of queries seen before.
create or replace function pgrag._query_embedding(
    words text,
    model_id bigint,
    query_embedding halfvec
)
returns halfvec
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    used pgrag.embedding_models;
    known halfvec;
begin
    select m.*
    into used
    from pgrag.embedding_models as m
    where m.model_id = _query_embedding.model_id;
    if query_embedding is not null then
        if vector_dims(query_embedding) <> used.dimensions then
            raise exception 'Model % has % dimensions, query_embedding has %.',
                quote_literal(used.name), used.dimensions, vector_dims(query_embedding)
                using errcode = 'PGR08', hint = 'Embed the query with this model.';
        end if;
        return l2_normalize(query_embedding);
    end if;
    if used.provider = 'builtin' then
        return pgrag.embed(words, used.name);
    end if;
    select q.embedding
    into known
    from pgrag.query_vectors as q
    where q.model_id = used.model_id and q.query_hash = pgrag._query_hash(used, words);
    if known is null then
        raise notice 'No vector of this query by model %: searching by keywords only.',
            quote_literal(used.name)
            using hint = 'Pass query_embedding, or search through the API, which embeds the query.';
    end if;
    return known;
end;
$$;

-- A vector is of its words and of how its model reads a query. When a model's prefix, dimension or
-- file changes under its name, the old vectors are not found any more, and age out.
create or replace function pgrag._query_hash(
    model pgrag.embedding_models,
    words text
)
returns uuid
language sql
immutable
parallel safe
as $$
    select pgrag.text_hash(
        pg_catalog.jsonb_build_array(
            (_query_hash.model).query_prefix,
            (_query_hash.model).dimensions,
            (_query_hash.model).checksum,
            _query_hash.words
        )::text
    );
$$;

create or replace function pgrag.remember_query_vector(
    query text,
    model text,
    query_embedding halfvec,
    capacity integer default 10000
)
returns void
language plpgsql
volatile
set search_path from current
-- The oldest are found by the index, of whatever size the planner takes the table to be.
set enable_seqscan = off
set jit = off
as $$
declare
    used pgrag.embedding_models;
begin
    if coalesce(capacity < 1, true) then
        raise exception 'capacity must be at least 1, not %.', coalesce(capacity::text, 'null')
            using errcode = 'PGR01', hint = 'Say how many vectors of the model to keep.';
    end if;
    select m.* into used from pgrag.embedding_models as m where m.model_id = pgrag._model_id(model);
    if vector_dims(query_embedding) <> used.dimensions then
        raise exception 'Model % has % dimensions, query_embedding has %.',
            quote_literal(used.name), used.dimensions, vector_dims(query_embedding)
            using errcode = 'PGR08', hint = 'Embed the query with this model.';
    end if;
    insert into pgrag.query_vectors as q (model_id, query_hash, embedding, used_at)
    values (
        used.model_id,
        pgrag._query_hash(used, pgrag._searched_words(query)),
        l2_normalize(query_embedding),
        -- Not the transaction's: many may be remembered in one, and they have an order.
        clock_timestamp()
    )
    on conflict (model_id, query_hash) do update
    set embedding = excluded.embedding, used_at = excluded.used_at;
    -- What somebody else has in hand is left for the next time: nobody waits, nobody is waited for.
    delete from pgrag.query_vectors as q
    where q.model_id = used.model_id
        and q.query_hash = any (
            array(
                select old.query_hash
                from pgrag.query_vectors as old
                where old.model_id = used.model_id
                    and (old.used_at, old.query_hash) <= (
                        select kept.used_at, kept.query_hash
                        from pgrag.query_vectors as kept
                        where kept.model_id = used.model_id
                        order by kept.used_at desc, kept.query_hash desc
                        offset remember_query_vector.capacity
                        limit 1
                    )
                for update skip locked
            )
        );
end;
$$;

comment on function pgrag.remember_query_vector(text, text, halfvec, integer) is
'Keeps the vector of a query by a model outside the database, so that the same query can be searched
by meaning from psql. At most capacity vectors a model are kept, those used last; a recorded search
counts as use. Errors: PGR01 capacity, PGR08 dimension, PGR09.';
