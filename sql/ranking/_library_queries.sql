-- One query per library, each with the idf, the model and the weights of the library.
create or replace function _pgrag.library_queries(
    words text,
    library_ids bigint[],
    terms pgrag.query_term[],
    alpha double precision,
    page_evidence double precision,
    model text,
    query_embedding halfvec,
    strategy jsonb
)
returns _pgrag.library_query[]
language plpgsql
stable
parallel safe
as $$
declare
    wanted_model bigint := _pgrag.model_id(model);
    models bigint[];
    embeddings halfvec[];
begin
    select array_agg(distinct coalesce(wanted_model, l.model_id))
    into models
    from pgrag.libraries as l
    where l.library_id = any (library_queries.library_ids);
    if query_embedding is not null and cardinality(models) > 1 then
        raise exception 'The libraries searched use % models; query_embedding fits one.',
            cardinality(models)
            using errcode = 'PGR01', hint = 'Name the model, or search one library.';
    end if;
    if alpha is distinct from 0 then
        embeddings := array(
            select _pgrag.embed_query(words, u.model_id, query_embedding)
            from unnest(models) with ordinality as u (model_id, nth)
            order by u.nth
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
                -- The strategy may set alpha, or raise or lower it by alpha_offset.
                else coalesce(
                    library_queries.alpha,
                    least(greatest(
                        coalesce(
                            (strategy ->> 'alpha')::double precision,
                            _pgrag.alpha(l.settings, m.alpha)
                        ) + coalesce((strategy ->> 'alpha_offset')::double precision, 0),
                        0
                    ), 1)
                )
            end,
            coalesce(
                library_queries.page_evidence,
                (pgrag.effective_settings(l.settings) ->> 'page_evidence')::real
            ),
            -- Titles are compared with the original words, not with the expanded terms.
            _pgrag.title_vector(
                array(
                    select distinct t.language
                    from unnest(library_queries.terms) as t
                    where t.library_id = l.library_id
                ),
                library_queries.words
            ),
            (pgrag.effective_settings(l.settings) ->> 'title_evidence')::real
        )::_pgrag.library_query
        from pgrag.libraries as l
        join pgrag.embedding_models as m on m.model_id = coalesce(wanted_model, l.model_id)
        cross join _pgrag.query_vectors(library_queries.terms) as keywords
        where l.library_id = any (library_queries.library_ids)
        order by l.library_id
    );
end;
$$;

-- The library's setting, else the model's, else the session's, else the default.
create or replace function _pgrag.alpha(
    settings jsonb,
    model_alpha double precision
)
returns double precision
language sql
stable
parallel safe
as $$
    select coalesce(
        (alpha.settings ->> 'alpha')::double precision,
        alpha.model_alpha,
        nullif(pg_catalog.current_setting('pgrag.hybrid_alpha', true), '')::double precision,
        (pgrag.default_settings() ->> 'alpha')::double precision
    );
$$;

-- The vector from the caller, from the built-in model, or from the cache of query vectors.
create or replace function _pgrag.embed_query(
    words text,
    model_id bigint,
    query_embedding halfvec
)
returns halfvec
language plpgsql
stable
parallel safe
as $$
#variable_conflict use_column
declare
    used pgrag.embedding_models;
    known halfvec;
begin
    select m.*
    into used
    from pgrag.embedding_models as m
    where m.model_id = embed_query.model_id;
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
    where q.model_id = used.model_id and q.query_hash = _pgrag.query_hash(used, words);
    if known is null then
        raise notice 'No vector of this query by model %: searching by keywords only.',
            quote_literal(used.name)
            using hint = 'Pass query_embedding, or search through the API, which embeds the query.';
    end if;
    return known;
end;
$$;

-- The cache key covers the words and the model's query prefix, dimensions and checksum. When these
-- change under the same name, the old vectors are no longer found, and age out.
create or replace function _pgrag.query_hash(
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
            (query_hash.model).query_prefix,
            (query_hash.model).dimensions,
            (query_hash.model).checksum,
            query_hash.words
        )::text
    );
$$;
