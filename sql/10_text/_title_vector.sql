-- A title as a vector of length 1, so that its inner product with a query's is the cosine of their
-- words: 1 where the query says all of the title and nothing else. Every word counts the same: no
-- statistics in it, so it never grows old. A query is such a vector in each of its library's
-- languages, and a title meets the one in its own. Both are read without the parts of camel case.
-- Null without a word: a title of stop words is no title.
create or replace function pgrag._title_vector(
    languages text[],
    title text
)
returns sparsevec
language sql
stable
parallel safe
as $$
    select pgrag._sparse_vector(
        pg_catalog.string_agg(
            l.lexeme_id || ':' || (1 / pg_catalog.sqrt(l.lexeme_count))::real, ','
        )
    )
    from (
        select term.lexeme_id, pg_catalog.count(*) over (partition by term.language) as lexeme_count
        from (
            select distinct
                spoken.language,
                pgrag.lexeme_id(spoken.language, word.lexeme) as lexeme_id
            from pg_catalog.unnest(_title_vector.languages) as spoken (language)
            cross join lateral pg_catalog.unnest(
                pg_catalog.to_tsvector(
                    spoken.language::regconfig,
                    pgrag.searchable_text(_title_vector.title, camel_case => false)
                )
            ) as word
        ) as term
    ) as l;
$$;
