-- The text for to_tsvector, whose parser hides words: `<video>` is a tag and vanishes, `and/or` is
-- one file name. Links are reduced to their words, and parts of identifiers are appended, so that
-- positions stay: dotted.name: dotted, name; snake_case: snakecase; useEffect: use, Effect, but not
-- in queries, which do not mean "use". Names that begin with a capital (ConfigMap) stay one word:
-- splitting them gains nothing and costs up to 1 % nDCG@10 on documentation.
create or replace function _pgrag.searchable_text(
    input text,
    camel_case boolean default true
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    -- replace() is several times as fast as translate().
    prepared text := pg_catalog.replace(
        pg_catalog.replace(
            pg_catalog.replace(_pgrag.plain_text(searchable_text.input), '<', ' '), '>', ' '
        ),
        '/', ' '
    );
begin
    if prepared !~ '[._][[:alpha:]]|[a-z0-9][A-Z]' then
        return prepared;
    end if;
    -- The parser splits hyphens and underscores and keeps dotted names whole; this adds the rest.
    return prepared || coalesce(' ' || (
        select pg_catalog.string_agg(
            case
                when identifier.words <> identifier.form then identifier.words || ' '
                else ''
            end
            || case
                when searchable_text.camel_case and identifier.words ~ '\m[a-z]+[a-z0-9]*[A-Z]'
                then pg_catalog.regexp_replace(
                    identifier.words, '([a-z0-9])([A-Z])', '\1 \2', 'g'
                ) || ' '
                else ''
            end
            || case
                when pg_catalog.strpos(identifier.form, '_') > 0
                then pg_catalog.replace(identifier.form, '_', '')
                else ''
            end,
            ' '
        )
        from (
            select
                match.form[1] as form,
                pg_catalog.translate(match.form[1], '._', '  ') as words
            from pg_catalog.regexp_matches(
                prepared,
                '(\w+(?:[._]+[[:alpha:]]\w*)+|\m[a-z]+[a-z0-9]*[A-Z]\w*)',
                'g'
            ) as match (form)
        ) as identifier
    ), '');
end;
$$;

-- The lexemes of words of a query. Inlined.
create or replace function _pgrag.query_vector(
    language text,
    words text
)
returns tsvector
language sql
stable
parallel safe
as $$
    select pg_catalog.to_tsvector(
        query_vector.language::regconfig, _pgrag.searchable_text(query_vector.words, false)
    );
$$;
