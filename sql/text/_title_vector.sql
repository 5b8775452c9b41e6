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
            from (
                -- Without the joined forms of hyphenated words: e-mail is one word of a title.
                select pg_catalog.split_part(
                    _pgrag.searchable_text(title_vector.title, true), pg_catalog.chr(1), 1
                ) as words
                offset 0
            ) as own
            cross join pg_catalog.unnest(title_vector.languages) as spoken (language)
            cross join lateral pg_catalog.unnest(
                _pgrag.whole_names(
                    pg_catalog.tsvector_to_array(
                        _pgrag.text_vector(spoken.language, own.words, true)
                    )
                )
            ) as word (lexeme)
        ) as term
    ) as l;
$$;
