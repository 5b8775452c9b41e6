-- The built-in model, identical to pgrag.models.embedding.BuiltinEmbedder in Python.
create or replace function pgrag.embed(
    input text,
    model text default _pgrag.builtin_model()
)
returns halfvec
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    wanted_id constant bigint := _pgrag.model_id(embed.model);
    wanted_model pgrag.embedding_models;
begin
    select m.*
    into wanted_model
    from pgrag.embedding_models as m
    where m.model_id = wanted_id;
    if wanted_model.provider is distinct from 'builtin' then
        raise exception 'The database cannot compute vectors of model %.',
            coalesce(quote_literal(embed.model), 'null')
            using errcode = 'PGR09',
                hint = 'Compute the vector outside and pass it as query_embedding.';
    end if;
    return _pgrag.builtin_vector(embed.input, wanted_id, wanted_model.settings -> 'characters');
end;
$$;

comment on function pgrag.embed is
'The unit vector of a text by the model inside the database; null if the model knows no word of the
text. Words are cut into the longest known pieces from left to right; a word with an unknown rest or
of more than 100 characters is skipped; the vector is the normalised mean of the pieces'' vectors.
Errors: PGR09 for an unknown model and for a model outside the database. Method: BERT''s word pieces
with static embeddings.';

create or replace function _pgrag.builtin_vector(
    input text,
    model_id bigint,
    characters jsonb
)
returns halfvec
language plpgsql
stable
parallel safe
as $$
declare
    words constant text[] := _pgrag.split_words(input, characters);
    embedding halfvec;
    has_pieces boolean;
begin
    select l2_normalize(avg(t.embedding)), bool_or(t.token is null)
    into embedding, has_pieces
    from unnest(words) as w (word)
    left join pgrag.model_tokens as t
        on t.model_id = builtin_vector.model_id and t.token = w.word collate "C"
    where length(w.word) between 1 and 100;
    -- Most words are one piece, and most queries have no others.
    if has_pieces then
        embedding := (
            select l2_normalize(avg(p.embedding))
            from _pgrag.word_pieces(words, builtin_vector.model_id) as p
        );
    end if;
    return embedding;
end;
$$;

-- The pieces of the words that are known. Most words are one piece. Of the others, the greatest
-- token that sorts at or before a text starts with the longest token that the text starts with. So
-- one index lookup and the prefix lengths of that token yield the next piece.
create or replace function _pgrag.word_pieces(
    words text[],
    model_id bigint
)
returns table (
    word text,
    embedding halfvec
)
language sql
stable
parallel safe
as $$
    with recursive looked_up as materialized (
        select w.word, t.embedding
        from unnest(word_pieces.words) as w (word)
        left join pgrag.model_tokens as t
            on t.model_id = word_pieces.model_id and t.token = w.word collate "C"
        where length(w.word) between 1 and 100
    ),
    walk (word, rest, marker_length, pieces) as (
        select l.word, l.word collate "C", 0, '{}'::text[] collate "C"
        from looked_up as l
        where l.embedding is null
        union all
        select
            w.word, '##' || substr(w.rest, piece.size + 1), 2, w.pieces || left(w.rest, piece.size)
        from walk as w
        cross join lateral (
            select prefix.size
            from (
                select t.token, t.prefix_lengths
                from pgrag.model_tokens as t
                where t.model_id = word_pieces.model_id and t.token <= w.rest
                order by t.token desc
                limit 1
            ) as nearest
            cross join unnest(nearest.prefix_lengths) as prefix (size)
            where prefix.size > w.marker_length
                and left(nearest.token, prefix.size) = left(w.rest, prefix.size)
            limit 1
        ) as piece
        where length(w.rest) > w.marker_length
    )
    select l.word, l.embedding
    from looked_up as l
    where l.embedding is not null
    union all
    select w.word, t.embedding
    from walk as w
    cross join unnest(w.pieces) as piece (token)
    join pgrag.model_tokens as t
        on t.model_id = word_pieces.model_id and t.token = piece.token
    where w.rest = '##';
$$;

-- The character classes come with the model, so that every server and every Python splits alike,
-- whatever the locale and Unicode version: lower() under "C" changes ASCII only, and the few other
-- capitals of the vocabulary are translated.
create or replace function _pgrag.split_words(
    input text,
    characters jsonb
)
returns text[]
language plpgsql
immutable
parallel safe
as $$
declare
    folded text := pg_catalog.lower(
        pg_catalog.regexp_replace(normalize(input, nfd), characters ->> 'removed', '', 'g')
            collate "C"
    );
begin
    if pg_catalog.octet_length(folded) <> pg_catalog.length(folded) then
        folded := pg_catalog.translate(
            folded, characters ->> 'uppercase', characters ->> 'lowercase'
        );
    end if;
    return pg_catalog.string_to_array(
        pg_catalog.regexp_replace(folded, characters ->> 'isolated', ' \& ', 'g'), ' '
    );
end;
$$;
