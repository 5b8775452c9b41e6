-- The text for text_vector. PostgreSQL's parser hides words: `<video>` is a tag and vanishes,
-- `and/or` is one file name. Links are reduced to their words. Names with signs and parts of
-- identifiers are appended, so that positions stay: dotted.name: dotted, name; snake_case:
-- snakecase; e-mail: email; useEffect: use, Effect, but not in queries, which do not mean "use".
-- Names that begin with a capital (ConfigMap) stay one word: splitting them gains nothing and costs
-- up to 1 % nDCG@10 on documentation.
create or replace function _pgrag.searchable_text(
    input text,
    of_query boolean default false
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    normal text := _pgrag.plain_text(searchable_text.input);
    searchable text;
begin
    -- Addresses within the text.
    if pg_catalog.strpos(normal, '%') > 0 and normal ~ '/\S*%[0-9A-Fa-f]{2}' then
        normal := _pgrag.percent_decoded(normal);
    end if;
    if pg_catalog.octet_length(normal) > pg_catalog.length(normal) then
        normal := _pgrag.normal_text(normal);
        if searchable_text.of_query then
            normal := _pgrag.without_particles(normal);
        end if;
    end if;
    searchable := _pgrag.parsed_text(normal);
    -- Most texts have only one of both, and starting a statement takes as long as running it.
    if searchable ~ '[._][[:alpha:]]|[a-z0-9][A-Z]'
        or not searchable_text.of_query
        and strpos(searchable, '-') > 0
        and searchable ~ '[[:alpha:]]-[[:alnum:]]'
    then
        searchable := searchable || coalesce(' ' || (
            select pg_catalog.string_agg(i.parts, ' ')
            from _pgrag.identifier_parts(searchable, searchable_text.of_query) as i (parts)
        ), '');
    end if;
    if normal ~ U&'[-+*=<>!&|^~?:.%#@$]{2}|(?:^|[^\\w.-]|[\3040-\D7A3])[.@#&%:!?$-]\\w'
        '|[[:alpha:]][+#]|[A-Z][*&]|[\2190-\22FF\2300-\24FF\25A0-\2BFF\+01F000-\+01FAFF]'
    then
        searchable := searchable || coalesce(' ' || (
            select pg_catalog.string_agg(n.name, ' ') from _pgrag.sign_names(normal) as n (name)
        ), '');
    end if;
    if searchable_text.of_query then
        -- Behind chr(1): text_vector gives them less weight.
        searchable := searchable || case
            when strpos(searchable, '-') > 0
            then coalesce(chr(1) || (
                select pg_catalog.string_agg(pg_catalog.replace(m.word[1], '-', ''), ' ')
                from pg_catalog.regexp_matches(
                    searchable, '\m[[:alpha:]]+-[[:alnum:]]+', 'g'
                ) as m (word)
            ), '')
            else ''
        end;
    elsif pg_catalog.octet_length(normal) > pg_catalog.length(normal)
        and _pgrag.has_bigrams(normal)
    then
        searchable := searchable || _pgrag.single_characters(normal);
    end if;
    return searchable;
end;
$$;

-- The words of a normal text in their order, as the parser shall read them. Inlined.
create or replace function _pgrag.parsed_text(
    normal text
)
returns text
language sql
immutable
parallel safe
as $$
    -- replace() is several times as fast as translate().
    select case
        when pg_catalog.octet_length(parsed_text.normal) > pg_catalog.length(parsed_text.normal)
            and _pgrag.has_bigrams(parsed_text.normal)
        then _pgrag.with_bigrams(pg_catalog.translate(parsed_text.normal, '<>/', '   '))
        else pg_catalog.replace(
            pg_catalog.replace(pg_catalog.replace(parsed_text.normal, '<', ' '), '>', ' '), '/', ' '
        )
    end;
$$;

-- The parser splits hyphens and underscores and keeps dotted names whole; these are the rest.
-- Inlined.
create or replace function _pgrag.identifier_parts(
    prepared text,
    of_query boolean
)
returns setof text
language sql
immutable
parallel safe
rows 5
as $$
    select case
            when identifier.words <> identifier.form then identifier.words || ' '
            else ''
        end
        || case
            when not identifier_parts.of_query and identifier.words ~ '\m[a-z]+[a-z0-9]*[A-Z]'
            then pg_catalog.regexp_replace(identifier.words, '([a-z0-9])([A-Z])', '\1 \2', 'g')
                || ' '
            else ''
        end
        || case
            when identifier.form ~ case when identifier_parts.of_query then '_' else '[_-]' end
            then pg_catalog.translate(identifier.form, '_-', '')
            else ''
        end
    from (
        select
            match.form[1] as form,
            pg_catalog.translate(match.form[1], '._', '  ') as words
        from pg_catalog.regexp_matches(
            identifier_parts.prepared,
            '(\w+(?:[._]+[[:alpha:]]\w*)+|\m[a-z]+[a-z0-9]*[A-Z]\w*|\m[[:alpha:]]+-[[:alnum:]]+)',
            'g'
        ) as match (form)
    ) as identifier;
$$;
