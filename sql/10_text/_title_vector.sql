-- A title as a vector of length 1, so that its inner product with a query's is the cosine of their
-- words: 1 where the query says all of the title and nothing else. Every word counts the same: no
-- statistics in it, so it never grows old. Like a query, a title is read without the parts of
-- camel case.
create or replace function pgrag._title_vector(
    language text,
    title text
)
returns sparsevec
language sql
stable
parallel safe
as $$
    select pgrag._unit_vector(
        array(
            select pgrag.lexeme_id(_title_vector.language, term.lexeme)
            from pg_catalog.unnest(
                pg_catalog.to_tsvector(
                    _title_vector.language::regconfig,
                    pgrag.searchable_text(_title_vector.title, camel_case => false)
                )
            ) as term
        )
    );
$$;

-- Null without a word: a title of stop words is no title.
create or replace function pgrag._unit_vector(
    lexeme_ids integer[]
)
returns sparsevec
language sql
immutable
parallel safe
as $$
    select pgrag._sparse_vector(
        pg_catalog.string_agg(
            l.lexeme_id || ':' || (1 / pg_catalog.sqrt(l.lexeme_count))::real, ','
        )
    )
    from (
        select distinct_ids.lexeme_id, pg_catalog.count(*) over () as lexeme_count
        from (
            select distinct pg_catalog.unnest(_unit_vector.lexeme_ids)
        ) as distinct_ids (lexeme_id)
    ) as l;
$$;
