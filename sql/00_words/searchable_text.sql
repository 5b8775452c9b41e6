-- What the full-text parser gets to see. The default parser hides words: `<video>` is a tag and
-- vanishes, `and/or` is one file name, `useEffect` is one word. Links shrink to their words, and
-- the identifiers' other forms are appended, so that each is found whole and by its parts, while
-- the positions of the text itself stay as they are (phrases keep working).
create or replace function pgrag.searchable_text(
    input text
)
returns text
language sql
immutable
parallel safe
as $$
    select prepared.text || coalesce(' ' || pgrag._identifier_words(prepared.text), '')
    from (
        select pg_catalog.translate(pgrag.plain_text(searchable_text.input), '<>/', '   ') as text
    ) as prepared;
$$;

comment on function pgrag.searchable_text(text) is
'The text that is given to to_tsvector, of a document as well as of a query: links reduced to their
words, tags and slashes opened, and the other forms of every identifier appended (useEffect: use,
Effect; snake_case: snakecase; dotted.name: dotted, name).';

-- The parser already splits hyphens and underscores and keeps dotted names whole; this adds what
-- it leaves out: the parts of dotted and camel-case names, and snake_case as one word.
create or replace function pgrag._identifier_words(
    input text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.string_agg(
        case
            when identifier.words <> identifier.form then identifier.words || ' '
            else ''
        end
        || case
            when identifier.form ~ '[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}'
            then pg_catalog.regexp_replace(
                pg_catalog.regexp_replace(identifier.words, '([a-z0-9])([A-Z])', '\1 \2', 'g'),
                '([A-Z])([A-Z][a-z][a-z])',
                '\1 \2',
                'g'
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
            _identifier_words.input,
            '(\w+(?:[._]+[[:alpha:]]\w*)+|[A-Za-z]*[a-z0-9][A-Z]\w*|[A-Z]{2,}[a-z]{2}\w*)',
            'g'
        ) as match (form)
    ) as identifier;
$$;
