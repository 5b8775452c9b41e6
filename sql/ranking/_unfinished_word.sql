-- Search as you type: the last word of a query, as far as it is typed, also counts as the beginning
-- of words.

-- The last word, if it is unfinished: no blank, quotation mark or filter follows it, and it has no
-- sign. Null otherwise.
create or replace function _pgrag.unfinished_word(
    query text,
    words text
)
returns text
language sql
immutable
parallel safe
as $$
    select w.word
    from substring(unfinished_word.query from '[^\s"„“”«»「」]+$') as w (word)
    where w.word !~ '^[+-]' and w.word ~ '[^[:punct:]]' and w.word = substring(words from '\S+$');
$$;

-- The lexemes of most passages that begin with the word, in each language of each library. A stem
-- may be shorter than the word: "configurati" is the beginning of "configuration", whose stem is
-- "configur"; the vocabulary of the built-in model tells.
create or replace function _pgrag.begun_lexemes(
    word text,
    libraries pgrag.libraries[]
)
returns table (
    library_id bigint,
    language text,
    lexeme text,
    document_count integer
)
language plpgsql
stable
parallel safe
rows 10
as $$
declare
    lexeme_count constant integer := 10;
    -- A letter or two begin words of very many passages, which say least and take longest to read:
    -- words of more passages than this come last, and none is taken after so many passages.
    most_passages constant integer := 20000;
    typed constant text := lower(ltrim(word, '([{''`*¿¡'));
    -- As it is written in vectors.
    folded constant text[] := tsvector_to_array(_pgrag.query_vector('simple', typed));
    beginnings constant text[] := array(
        select typed union select f from unnest(folded) as f where cardinality(folded) = 1
    );
    completions constant text := (
        select string_agg(c.token, ' ')
        from (
            select t.token
            from pgrag.embedding_models as m
            join pgrag.model_tokens as t on t.model_id = m.model_id
            where m.name = _pgrag.builtin_model()
                and length(typed) > 4
                and t.token > typed collate "C"
                and t.token < (typed || chr(1114109)) collate "C"
            order by t.token
            limit 20
        ) as c
    );
begin
    return query
    select s.library_id, s.language, s.lexeme, s.document_count
    from (
        select c.library_id, c.language
        from unnest(libraries) as l
        join pgrag.corpus_statistics as c on c.library_id = l.library_id and c.document_count > 0
    ) as c
    cross join lateral (
        select f.*, sum(f.document_count) over most - f.document_count as before
        from (
            select k.*
            from unnest(beginnings) as b (beginning)
            -- One range of the index for each beginning.
            cross join lateral (
                select k.*
                from pgrag.lexeme_statistics as k
                where k.library_id = c.library_id
                    and k.language = c.language
                    and k.lexeme >= b.beginning collate "C"
                    and k.lexeme < (b.beginning || chr(1114109)) collate "C"
                    and k.document_count > 0
                order by
                    k.document_count > most_passages and k.lexeme <> all (beginnings),
                    k.document_count desc, k.lexeme
                limit lexeme_count
            ) as k
            union
            select k.*
            from pgrag.lexeme_statistics as k
            where k.library_id = c.library_id
                and k.language = c.language
                and k.lexeme = any (
                    tsvector_to_array(_pgrag.query_vector(c.language, completions))
                )
        ) as f
        where f.document_count > 0
        window most as (
            order by
                f.lexeme = any (beginnings), f.document_count > most_passages,
                f.document_count desc, f.lexeme
        )
        order by
            f.document_count > most_passages and f.lexeme <> all (beginnings),
            f.document_count desc, f.lexeme
        limit lexeme_count
    ) as s
    where s.before < most_passages or s.lexeme = any (beginnings);
end;
$$;

-- Whether passages have the word itself, and it is one: "middl" is only the stem of "middle".
create or replace function _pgrag.is_finished(
    word text,
    libraries pgrag.libraries[]
)
returns boolean
language sql
stable
parallel safe
as $$
    select (_pgrag.known_to_model(array[is_finished.word]))[1] and exists (
        select
        from unnest(_pgrag.terms_of_words(is_finished.word, is_finished.libraries)) as t
        where t.document_count > 0
    );
$$;

-- Of the terms that are not among these, that of most weight in each language of each library: the
-- likeliest continuation of a word, for the comparison with titles.
create or replace function _pgrag.best_of_others(
    terms pgrag.query_term[],
    all_terms pgrag.query_term[]
)
returns pgrag.query_term[]
language sql
immutable
parallel safe
as $$
    select array(
        select distinct on (a.library_id, a.language) a
        from unnest(best_of_others.all_terms) as a
        where not exists (
            select
            from unnest(best_of_others.terms) as t
            where t.library_id = a.library_id and t.language = a.language and t.lexeme = a.lexeme
        )
        order by a.library_id, a.language, a.weight desc, a.lexeme
    );
$$;

-- The terms with those that a word begins. Together they weigh as much as one word; if a passage
-- has the word itself, half as much. A term that the query has already gains nothing.
create or replace function _pgrag.with_beginnings(
    terms pgrag.query_term[],
    word text,
    libraries pgrag.libraries[]
)
returns pgrag.query_term[]
language plpgsql
stable
parallel safe
as $$
declare
    expanded pgrag.query_term[];
begin
    with begun as materialized (
        select b.* from _pgrag.begun_lexemes(word, libraries) as b
    ),
    shares as (
        select t.library_id, t.language, t.lexeme, t.frequency as share
        from unnest(terms) as t
        union all
        select
            b.library_id, b.language, b.lexeme,
            w.share * b.document_count
                / sum(b.document_count) over (partition by b.library_id, b.language)
        from begun as b
        cross join lateral (
            select case
                when _pgrag.is_finished(word, libraries) then 0.5
                else 1
            end as share
            offset 0
        ) as w
        where not exists (
            select
            from unnest(terms) as t
            where t.library_id = b.library_id
                and t.language = b.language
                and t.lexeme = b.lexeme
        )
    )
    select array(
        select t
        from _pgrag.weighted_terms(
            array_agg(s.library_id), array_agg(s.language), array_agg(c.document_count),
            array_agg(_pgrag.setting(l.settings, 'k1')::double precision),
            array_agg(s.lexeme), array_agg(s.share)
        ) as t
    )
    into expanded
    from shares as s
    join pgrag.corpus_statistics as c
        on c.library_id = s.library_id and c.language = s.language
    join unnest(libraries) as l on l.library_id = s.library_id;
    return expanded;
end;
$$;
