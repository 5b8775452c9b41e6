-- pgvector's sparsevec has at most 1,000,000,000 dimensions, so a lexeme's index is its hash modulo
-- that number. The hash includes the language: one query vector can hold the lexemes of several
-- languages, and each passage matches only in its own.
create or replace function _pgrag.lexeme_id(
    language text,
    lexeme text
)
returns integer
language sql
immutable
parallel safe
as $$
    select (
        (
            pg_catalog.hashtextextended(
                lexeme_id.lexeme,
                pg_catalog.hashtextextended(lexeme_id.language, 0)
            ) & 9223372036854775807
        ) % 1000000000
    )::integer + 1;
$$;
