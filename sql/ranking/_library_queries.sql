-- One query per library, each with the idf, the model and the weights of the library. words: with
-- misspelt ones replaced, as the built-in model needs them; typed: as the caller wrote them, and
-- other models have embedded them.
create or replace function _pgrag.library_queries(
    words text,
    typed text,
    libraries pgrag.libraries[],
    original_terms pgrag.query_term[],
    terms pgrag.query_term[],
    alpha double precision,
    page_evidence double precision,
    model text,
    query_embedding halfvec,
    strategy jsonb,
    type_weights jsonb,
    language text
)
returns _pgrag.library_query[]
language plpgsql
stable
parallel safe
as $$
declare
    wanted_model constant bigint := _pgrag.model_id(model);
    -- A word with a mark of code: os.path, peek(), tp_free, std::move, useEffect.
    name_of_code constant text := '[[:alpha:]]\.[[:alpha:]]|\(\)|_|::|^[@$#.&%-]+[[:alpha:]]'
        '|^[[:alpha:]]+[+#]+$|^[[:lower:]][[:lower:][:digit:]]*[[:upper:]]';
    -- How much of the query the built-in model can read.
    read_share double precision := _pgrag.readable_share(words);
    model_count bigint;
    models record;
    known record;
begin
    if query_embedding is not null and wanted_model is null then
        select count(distinct l.model_id) into model_count from unnest(libraries) as l;
        if model_count > 1 then
            raise exception 'The libraries searched use % models; query_embedding fits one.',
                model_count
                using errcode = 'PGR01', hint = 'Name the model, or search one library.';
        end if;
    end if;
    -- The built-in model knows most names of code only in pieces, so it has less weight if every
    -- word is one. Most queries do not begin with one.
    if regexp_substr(words, '\S+') ~ name_of_code then
        read_share := read_share * (
            select case when bool_and(w.word ~ name_of_code) then 1 / 3.0 else 1 end
            from regexp_split_to_table(words, '\s+') as w (word)
            where w.word <> ''
        );
    end if;

    -- Each model embeds once.
    select
        array_agg(m.model_id) as ids,
        array_agg(m.alpha) as alphas,
        array_agg(m.provider = 'builtin') as are_builtin,
        array_agg(m.name = _pgrag.builtin_model()) as have_related,
        array_agg(
            case
                when library_queries.alpha is distinct from 0
                then _pgrag.embed_query(
                    case m.provider when 'builtin' then words else typed end, m, query_embedding
                )
            end
        ) as embeddings
    into models
    from pgrag.embedding_models as m
    where m.model_id = any (
            array(select coalesce(wanted_model, l.model_id) from unnest(libraries) as l)
        );
    select k.* into known from _pgrag.known_parts(original_terms) as k;
    if known.is_lacking then
        known.shares := _pgrag.understood_shares(
            words, original_terms, libraries, wanted_model, models.ids, models.are_builtin,
            models.embeddings, known.library_ids
        );
    end if;

    return array(
        select row(
            l.library_id,
            m.model_id,
            m.is_builtin,
            keywords.vectors[array_position(keywords.library_ids, l.library_id)],
            m.embedding,
            mixed.alpha,
            coalesce(
                library_queries.page_evidence, _pgrag.setting(l.settings, 'page_evidence')::real
            ),
            -- Titles are compared with the original words, not with the expanded terms.
            known.title_vectors[place.nth],
            _pgrag.setting(l.settings, 'title_evidence')::real * shares.title_share,
            case
                when _pgrag.setting(l.settings, 'type_weights')::boolean
                then library_queries.type_weights
            end,
            library_queries.language,
            shares.alpha_share,
            shares.title_share,
            -- Matches of tokens are between words and meaning: neither retriever alone has them.
            case
                when m.has_related and mixed.alpha > 0 and mixed.alpha < 1
                then _pgrag.setting(l.settings, 'token_weight')::double precision
                else 0
            end
        )::_pgrag.library_query
        from unnest(library_queries.libraries) as l
        join unnest(
            models.ids, models.alphas, models.are_builtin, models.have_related, models.embeddings
        ) as m (model_id, alpha, is_builtin, has_related, embedding)
            on m.model_id = coalesce(wanted_model, l.model_id)
        cross join _pgrag.query_vectors(library_queries.terms) as keywords
        cross join lateral (
            select array_position(known.library_ids, l.library_id) as nth offset 0
        ) as place
        cross join lateral (
            select
                case
                    -- Above 0, so that a query of unknown words alone finds passages.
                    when m.is_builtin
                    then read_share * greatest(coalesce(known.shares[place.nth], 1), 0.01)
                    else 1
                end as alpha_share,
                coalesce(known.title_shares[place.nth], 1) as title_share
            offset 0
        ) as shares
        cross join lateral (
            select case
                when m.embedding is null then 0
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
                    * shares.alpha_share
                )
            end as alpha
            offset 0
        ) as mixed
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
        (_pgrag.default_settings() ->> 'alpha')::double precision
    );
$$;

-- The vector from the caller, from the built-in model, or from the cache of query vectors. Inlined,
-- because a row of a built-in model is long.
create or replace function _pgrag.embed_query(
    words text,
    used pgrag.embedding_models,
    query_embedding halfvec
)
returns halfvec
language sql
stable
parallel safe
as $$
    select case
        when query_embedding is null and (used).provider = 'builtin'
        then _pgrag.builtin_vector(words, (used).model_id, (used).settings -> 'characters')
        else _pgrag.known_vector(words, used, query_embedding)
    end;
$$;

create or replace function _pgrag.known_vector(
    words text,
    used pgrag.embedding_models,
    query_embedding halfvec
)
returns halfvec
language plpgsql
stable
parallel safe
as $$
declare
    known halfvec;
begin
    if query_embedding is not null then
        if vector_dims(query_embedding) <> used.dimensions then
            raise exception 'Model % has % dimensions, query_embedding has %.',
                quote_literal(used.name), used.dimensions, vector_dims(query_embedding)
                using errcode = 'PGR08', hint = 'Embed the query with this model.';
        end if;
        return l2_normalize(query_embedding);
    end if;
    select q.embedding
    into known
    from pgrag.query_vectors as q
    where q.model_id = used.model_id
        and q.query_hash = _pgrag.query_hash(used, words)
    -- Those of all callers are equal, and an administrator sees them all.
    limit 1;
    if known is null then
        raise notice 'No vector of this query by model %: searching by keywords only.',
            quote_literal(used.name)
            using hint = 'Pass query_embedding, or search through the API, which embeds the query.';
    end if;
    return known;
end;
$$;

-- The cache key covers the words and the model's query prefix, dimensions and checksum: when these
-- change under the same name, the old vectors are not read again, and age out.
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

-- How much of a query the built-in model can read: not scripts without spaces, nor Korean. Above 0,
-- so that what only it finds is found.
create or replace function _pgrag.readable_share(
    words text
)
returns double precision
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.octet_length(readable_share.words)
            > pg_catalog.length(readable_share.words)
            and _pgrag.has_bigrams(readable_share.words)
        then greatest(
            pg_catalog.length(pg_catalog.regexp_replace(
                readable_share.words, '[' || _pgrag.letters() || _pgrag.marks() || '\s]+', '', 'g'
            ))::double precision / pg_catalog.length(readable_share.words),
            0.01
        )
        else 1
    end;
$$;
