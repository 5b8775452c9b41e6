-- A title as a unit vector: its inner product with the query's vector is the cosine of their
-- lexemes, 1 if the query has exactly the words of the title. Every lexeme has the same weight, so
-- no corpus statistics can make the vector stale. The vector of a query covers all languages of its
-- library; a title matches in its own. Camel case is not split. Null if there is no lexeme: a title
-- of stop words is not a title.
create or replace function _pgrag.title_vector(
    languages text[],
    title text
)
returns sparsevec
language sql
stable
parallel safe
as $$
    select _pgrag.sparse_vector(
        pg_catalog.string_agg(
            l.lexeme_id || ':' || (1 / pg_catalog.sqrt(l.lexeme_count))::real, ','
        )
    )
    from (
        select term.lexeme_id, pg_catalog.count(*) over (partition by term.language) as lexeme_count
        from (
            select distinct
                spoken.language,
                _pgrag.lexeme_id(spoken.language, word.lexeme) as lexeme_id
            from pg_catalog.unnest(title_vector.languages) as spoken (language)
            cross join lateral _pgrag.query_vector(spoken.language, title_vector.title)
                as words (search)
            cross join lateral pg_catalog.unnest(words.search) as word
            where word.lexeme <> all (
                _pgrag.joined_words(pg_catalog.tsvector_to_array(words.search))
            )
        ) as term
    ) as l;
$$;

-- The words that hyphenated ones among the lexemes are when joined. A title does not count them,
-- because e-mail is one word of it.
create or replace function _pgrag.joined_words(
    lexemes text[]
)
returns text[]
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.strpos(pg_catalog.array_to_string(joined_words.lexemes, ' '), '-') = 0
        then '{}'
        else array(
            select pg_catalog.replace(l.lexeme, '-', '')
            from pg_catalog.unnest(joined_words.lexemes) as l (lexeme)
            where pg_catalog.strpos(l.lexeme, '-') > 0
        )
    end;
$$;
