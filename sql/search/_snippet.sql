-- An excerpt of a passage, or the whole of it, with the words of the query in **. Called for
-- returned rows only, because ts_headline reads the whole text.
create or replace function _pgrag.snippet(
    language text,
    content text,
    request _pgrag.search_request,
    is_whole boolean default false
)
returns text
language plpgsql
stable
parallel safe
as $$
declare
    lexemes text[] := array(
        select distinct t.lexeme
        from unnest((snippet.request).terms) as t
        where t.language = snippet.language
    );
    -- Bold text would look like a match.
    normal constant text := regexp_replace(
        _pgrag.plain_text(
            -- As it is written, unless its words would not be recognised.
            case
                when snippet.content ~ U&'[\00AD\0300-\036F\0591-\05C7\0610-\061A\0640\064B-\065F'
                    '\0670\200B\2060\2160-\2188\FB00-\FDFF\FE70-\FEFF\FF10-\FF19\FF21-\FF3A'
                    '\FF41-\FF5A\FF66-\FF9F]'
                then _pgrag.normal_text(snippet.content)
                else snippet.content
            end
        ),
        '\*\*(\S|\S[^*\n]*\S)\*\*', '\1', 'g'
    );
    separated text := normal;
    has_bigrams constant boolean := _pgrag.has_bigrams(normal);
    excerpt text;
begin
    if array_to_string(lexemes, ' ') ~ U&'[\+017000-\+0187F7]' then
        separated := _pgrag.with_names_as_words(separated, lexemes);
    end if;
    -- ts_headline drops what looks like a tag: in code, "<" is replaced until it has run; elsewhere
    -- the tag becomes a blank.
    if strpos(separated, '<') > 0 then
        separated := (
            select string_agg(
                case
                    when part.nth % 2 = 0 then translate(part.content, '<', U&'\E000')
                    else regexp_replace(part.content, '</?[A-Za-z][^<>]*>', ' ', 'g')
                end,
                '`'
                order by part.nth
            )
            from string_to_table(separated, '`') with ordinality as part (content, nth)
        );
    end if;
    if has_bigrams then
        separated := _pgrag.with_matching_runs(separated, lexemes);
        lexemes := lexemes || array(
            select distinct m.run[1]
            from regexp_matches(
                separated, chr(2) || '([^' || chr(2) || ']+)' || chr(2), 'g'
            ) as m (run)
        );
    end if;
    lexemes := _pgrag.lexemes_in_text(snippet.language, separated, lexemes);
    separated := replace(separated, chr(1) || chr(1), chr(1));
    excerpt := case
        when lexemes = '{}' then case when is_whole then separated else left(separated, 300) end
        else ts_headline(
            snippet.language::regconfig,
            separated,
            replace(
                _pgrag.tsquery_lexeme(array_to_string(lexemes, chr(1))), chr(1), ''' | '''
            )::tsquery,
            'StartSel=**, StopSel=**, '
                || case
                    when is_whole then 'HighlightAll=true'
                    else 'MaxFragments=2, FragmentDelimiter=" … ", '
                end
                || case
                    when is_whole then ''
                    when has_bigrams then 'MaxWords=80, MinWords=30'
                    else 'MaxWords=30, MinWords=12'
                end
        )
    end;
    excerpt := replace(excerpt, '**' || chr(1) || '**', '');
    -- replace takes a tenth of the time of translate where there is nothing to replace.
    excerpt := _pgrag.with_signs(replace(replace(excerpt, chr(1), ''), chr(2), ''));
    if not is_whole then
        excerpt := _pgrag.with_ellipses(
            excerpt, _pgrag.with_signs(replace(replace(separated, chr(1), ''), chr(2), ''))
        );
    end if;
    return replace(excerpt, U&'\E000', '<');
end;
$$;

-- The names with signs among the lexemes are words of the text, between characters that are blanks
-- to the parser and that the excerpt loses again.
create or replace function _pgrag.with_names_as_words(
    content text,
    lexemes text[]
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    named text := content;
    written text;
begin
    for written in
        select distinct m.part[1]
        from unnest(lexemes) as l
        cross join lateral _pgrag.with_signs(l) as name
        cross join lateral regexp_matches(
            content, '(' || regexp_replace(name, '[^\w]', '\\\&', 'g') || ')', 'gi'
        ) as m (part)
        where name <> l
    loop
        named := replace(named, written, chr(1) || _pgrag.sign_name(written) || chr(1));
    end loop;
    return named;
end;
$$;

-- In scripts without spaces each character becomes a word, and each run of characters that pairs
-- among the lexemes cover, between two chr(2), becomes one word.
create or replace function _pgrag.with_matching_runs(
    content text,
    lexemes text[]
)
returns text
language sql
stable
parallel safe
as $$
    select replace(
        string_agg(
            case p.is_covered
                when true then chr(2) || p.part || chr(2)
                when false then chr(1) || p.part || chr(1)
                else p.part
            end,
            '' order by p.nth
        ),
        chr(2) || chr(2),
        ''
    )
    from (
        select
            c.nth, c.part,
            case
                when c.is_letter
                then c.covers_next or c.is_alone
                    or coalesce(lag(c.covers_next) over (order by c.nth), false)
            end as is_covered
        from (
            select
                m.nth, coalesce(m.part[1], m.part[2]) as part,
                m.part[1] is not null as is_letter,
                coalesce(
                    m.part[1] || lead(m.part[1]) over (order by m.nth) = any (pairs.lexemes),
                    false
                ) as covers_next,
                coalesce(m.part[1] || m.part[1] = any (pairs.lexemes), false) as is_alone
            from regexp_matches(
                with_matching_runs.content,
                '([' || _pgrag.letters() || '][' || _pgrag.marks() || ']*)|([^'
                    || _pgrag.letters() || ']+)',
                'g'
            ) with ordinality as m (part, nth)
            cross join (
                select array(
                    select l
                    from unnest(with_matching_runs.lexemes) as l
                    where _pgrag.has_bigrams(l)
                ) as lexemes
            ) as pairs
        ) as c
    ) as p;
$$;

-- The lexemes, and for those that are in the text in another form only, as folded or joined words,
-- the form that ts_headline finds.
create or replace function _pgrag.lexemes_in_text(
    language text,
    content text,
    lexemes text[]
)
returns text[]
language plpgsql
stable
parallel safe
as $$
declare
    found text[] := lexemes;
    lower_case constant text := lower(content);
    joined constant text := replace(lower_case, '-', '');
    is_joined boolean := false;
    lexeme text;
begin
    if _pgrag.folded_text(content) <> content then
        found := found || array(
            with words as materialized (
                select t.lexeme, p.position
                from unnest(_pgrag.text_vector(lexemes_in_text.language, content)) as t
                cross join lateral unnest(t.positions) as p (position)
            )
            select distinct o.lexeme
            from words as w
            join words as o on o.position = w.position
            where w.lexeme = any (lexemes)
        );
    end if;
    foreach lexeme in array lexemes loop
        is_joined := is_joined or strpos(joined, lexeme) > 0 and strpos(lower_case, lexeme) = 0;
    end loop;
    if not is_joined then
        return found;
    end if;
    return found || array(
        select distinct t.lexeme
        from (
            select distinct m.part[1] as word
            from regexp_matches(content, '\m([[:alpha:]]+-[[:alnum:]]+)', 'g') as m (part)
        ) as h
        cross join lateral unnest(to_tsvector(lexemes_in_text.language::regconfig, h.word)) as t
        where tsvector_to_array(
                to_tsvector(lexemes_in_text.language::regconfig, replace(h.word, '-', ''))
            ) && lexemes
    );
end;
$$;

-- The excerpt with "…" at each end that cuts a sentence. A sentence begins after a full stop, an
-- empty line or the mark of a heading, list or quotation; ts_headline drops stop words at its
-- beginning, which are put back.
create or replace function _pgrag.with_ellipses(
    excerpt text,
    content text
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    bare constant text := replace(content, '**', '');
    parts constant text[] := string_to_array(replace(btrim(excerpt), '**', ''), ' … ');
    last_part constant text := parts[cardinality(parts)];
    place constant integer := nullif(strpos(bare, parts[1]), 0);
    after constant integer := nullif(strpos(bare, last_part), 0) + length(last_part);
begin
    return coalesce(
            ltrim(
                substring(
                    left(bare, place - 1)
                    from '(?:^|[.!?:…]["''»”)\]*_`]*\s|\n\s*\n|\n\s*(?:[-*+>|#]+|\d+[.)])\s)'
                        '([^\n.!?:…]{0,30})$'
                )
            ),
            '… '
        )
        || btrim(excerpt)
        || case
            when substr(bare, after)
                ~ '^[\s*_`|"''»”)\]~]*($|[.!?:…]|\n\s*\n|\n\s*([-*+>|#]+|\d+[.)])\s)'
            then ''
            else ' …'
        end;
end;
$$;
