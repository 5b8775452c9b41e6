-- A lexeme as it is written in a tsquery.
create or replace function _pgrag.tsquery_lexeme(
    lexeme text
)
returns text
language sql
immutable
parallel safe
as $$
    select '''' || pg_catalog.replace(
        pg_catalog.replace(tsquery_lexeme.lexeme, '\', '\\'), '''', ''''''
    ) || '''';
$$;
