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
    -- The built-in model knows most names of code only in pieces, so it has less weight if every
    -- word has a mark of code: os.path, peek(), tp_free, std::move, useEffect.
    name_share constant double precision := (
        select case
            when bool_and(
                w.word ~ ('[[:alpha:]]\.[[:alpha:]]|\(\)|_|::|^[@$#.&%-]+[[:alpha:]]'
                    '|^[[:alpha:]]+[+#]+$'
                    '|^[[:lower:]][[:lower:][:digit:]]*[[:upper:]]')
            )
            then 1 / 3.0
            else 1
        end * _pgrag.readable_share(words)
        from regexp_split_to_table(words, '\s+') as w (word)
        where w.word <> ''
    );
    model_count bigint;
begin
    if query_embedding is not null and wanted_model is null then
        select count(distinct l.model_id) into model_count from unnest(libraries) as l;
        if model_count > 1 then
            raise exception 'The libraries searched use % models; query_embedding fits one.',
                model_count
                using errcode = 'PGR01', hint = 'Name the model, or search one library.';
        end if;
    end if;

    return array(
        with searched as materialized (
            select l.library_id, l.settings, coalesce(wanted_model, l.model_id) as model_id
            from unnest(library_queries.libraries) as l
        ),
        -- Materialized, so that each model embeds once, and the vectors are made once.
        models as materialized (
            select
                m.model_id,
                m.alpha,
                m.provider = 'builtin' as is_builtin,
                m.name = _pgrag.builtin_model() as has_related,
                case
                    when library_queries.alpha is distinct from 0
                    then _pgrag.embed_query(
                        case m.provider when 'builtin' then words else typed end,
                        m, query_embedding
                    )
                end as embedding
            from pgrag.embedding_models as m
            where m.model_id in (select s.model_id from searched as s)
        ),
        keywords as materialized (
            select k.* from _pgrag.query_vectors(library_queries.terms) as k
        ),
        titles as materialized (
            select t.* from _pgrag.title_vectors(library_queries.original_terms) as t
        ),
        -- True in languages with at least 1000 passages: in a smaller library, a missing word says
        -- little.
        judged as materialized (
            select t.*
            from unnest(library_queries.original_terms) as t
            where t.idf >= pgrag.inverse_document_frequency(t.document_count, 1000)
        ),
        -- A word that only the model knows (of another language, say) counts half.
        lacking as materialized (
            select
                j.library_id,
                j.language,
                _pgrag.understood_lexemes(library_queries.words, j.language, m.model_id) as lexemes
            from judged as j
            join searched as s on s.library_id = j.library_id
            join models as m on m.model_id = s.model_id
            where m.is_builtin and m.embedding is not null
            group by j.library_id, j.language, m.model_id
            having min(j.document_count) = 0
        ),
        -- The share of the query's weight that the library knows; of several languages, the one
        -- that knows most counts.
        known as materialized (
            select k.library_id, max(k.share) as share
            from (
                select
                    j.library_id,
                    sum(
                        case
                            when j.document_count > 0 then j.weight
                            when j.lexeme = any (l.lexemes) then j.weight / 2
                            else 0
                        end
                    ) / sum(j.weight) as share
                from judged as j
                left join lacking as l
                    on l.library_id = j.library_id and l.language = j.language
                group by j.library_id, j.language
            ) as k
            group by k.library_id
        )
        select row(
            s.library_id,
            m.model_id,
            keywords.vectors[array_position(keywords.library_ids, s.library_id)],
            m.embedding,
            case
                when m.embedding is null then 0
                -- The strategy may set alpha, or raise or lower it by alpha_offset.
                else coalesce(
                    library_queries.alpha,
                    least(greatest(
                        coalesce(
                            (strategy ->> 'alpha')::double precision,
                            _pgrag.alpha(s.settings, m.alpha)
                        ) + coalesce((strategy ->> 'alpha_offset')::double precision, 0),
                        0
                    ), 1)
                    * shares.alpha_share
                )
            end,
            coalesce(
                library_queries.page_evidence, _pgrag.setting(s.settings, 'page_evidence')::real
            ),
            -- Titles are compared with the original words, not with the expanded terms.
            titles.vectors[array_position(titles.library_ids, s.library_id)],
            _pgrag.setting(s.settings, 'title_evidence')::real * shares.title_share,
            case
                when _pgrag.setting(s.settings, 'type_weights')::boolean
                then library_queries.type_weights
            end,
            library_queries.language,
            shares.alpha_share,
            shares.title_share,
            -- Matches of tokens are between words and meaning: neither retriever alone has them.
            case
                when m.has_related
                    and m.embedding is not null
                    and (library_queries.alpha in (0, 1)) is not true
                then _pgrag.setting(s.settings, 'token_weight')::double precision
                else 0
            end
        )::_pgrag.library_query
        from searched as s
        join models as m on m.model_id = s.model_id
        left join known as k on k.library_id = s.library_id
        cross join keywords
        cross join titles
        cross join lateral (
            select
                case
                    -- Above 0, so that a query of unknown words alone finds passages.
                    when m.is_builtin then name_share * greatest(coalesce(k.share, 1), 0.01)
                    else 1
                end as alpha_share,
                coalesce(
                    titles.shares[array_position(titles.library_ids, s.library_id)], 1
                ) as title_share
        ) as shares
        order by s.library_id
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
