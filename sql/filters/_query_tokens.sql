-- Classifies each part of a query: word, filter, or operator between filters. One pass from left to
-- right decides; what is not a filter stays unchanged as text. with_groups: parentheses may group
-- filters; else they are words.
create or replace function _pgrag.query_tokens(
    query text,
    names text,
    with_tags boolean,
    with_groups boolean,
    out kinds text[],
    out texts text[],
    out starts integer[],
    out filters jsonb[],
    out scope jsonb
)
language plpgsql
immutable
parallel safe
as $$
declare
    parts constant text[] := array(
        select m[1]
        from regexp_matches(
            left(query, 10000),
            '\s+|[()]|[^\s()"]+|[+-]?"[^"]*"|"'
            '|[+-]?[a-z_]+(?:\.[^\s:()",]+)?:[<>=!~]*(?:\((?:[^()"]|"(?:[^"\\]|\\.)*")*\)'
            '|(?:[^\s()"]|\([^\s()"]*\)|"(?:[^"\\]|\\.)*")+)',
            'g'
        ) as m
    );
    part text;
    kind text;
    filter jsonb;
    tag text;
    next_start integer := 1;
    start integer;
    newest integer := 0;
    -- The token tags:a, to which the next bare word belongs.
    tags_token integer;
    is_apart boolean := true;
    unclosed integer[] := '{}';
    opened integer;
begin
    kinds := '{}';
    texts := '{}';
    starts := '{}';
    filters := '{}';
    for nth in 1..cardinality(parts) loop
        part := parts[nth];
        start := next_start;
        next_start := start + length(part);
        if part ~ '^\s' then
            is_apart := true;
            continue;
        end if;
        if is_apart and tags_token = newest
            and part ~ '^[[:alnum:]][^,;:?!<>=*]*$' and part not in ('AND', 'OR', 'NOT')
        then
            -- tags:a b is tags:{"all": ["a", "b"]}.
            filter := coalesce(
                filters[newest] #> '{tags,all}', jsonb_build_array(filters[newest] -> 'tags')
            );
            if jsonb_array_length(filter) = 100 then
                perform _pgrag.query_error(
                    start, 'these are more than 100 tags.',
                    'Every word after tags:a is a tag; write tag:a to search for the words.'
                );
            end if;
            filters[newest] := jsonb_build_object(
                'tags', jsonb_build_object('all', filter || to_jsonb(part))
            );
            is_apart := false;
            continue;
        end if;
        kind := 'word';
        filter := null;
        if part = ')' and with_groups then
            opened := unclosed[1];
            if opened is not null then
                unclosed := unclosed[2:];
                if kinds[opened + 1 : newest] && '{filter, scope}' then
                    kinds[opened] := '(';
                    kind := ')';
                end if;
            elsif kinds[newest] in ('filter', 'scope', ')') then
                perform _pgrag.query_error(start, 'this parenthesis was not opened.');
            end if;
        elsif is_apart and part = '(' and with_groups then
            unclosed := newest + 1 || unclosed;
        elsif is_apart and part in ('AND', 'OR', 'NOT') then
            kind := lower(part);
        elsif is_apart and part in ('-', '+') and parts[nth + 1] = '(' and with_groups then
            kind := part;
        elsif is_apart and parts[nth + 1] ~ '^["(]'
            and part ~ ('^[+-]?' || names || ':[<>=!~]*$')
        then
            perform _pgrag.query_error(
                next_start,
                case left(parts[nth + 1], 1)
                    when '"' then 'this quote is not closed.'
                    else 'this list is not closed.'
                end,
                'Write title:"two words", with \" for a quote in it, or tags:(a b).'
            );
        elsif is_apart and part ~ ('^[+-]?' || names || ':(?![\s:)]|//|$)')
            -- <a type:x> and {type:x;} are code.
            and (right(part, 1) not in (';', '}', '>') or part ~ ':[<>=!~]+$')
        then
            filter := _pgrag.query_filter(part, start);
            if part ~ '^[+]?tags:[^<>=!,"(]+$' and jsonb_typeof(filter -> 'tags') = 'string' then
                tags_token := newest + 1;
            end if;
        elsif with_tags and is_apart and part ~ '^[+-]?#[[:alpha:]]' then
            -- #name is a tag, unless it reads as code: a preprocessor directive, a colour, or a
            -- name followed by a sign (#main { … }, #count = 1).
            tag := ltrim(part, '+-#');
            if tag ~ '^[[:alpha:]][[:alnum:]_/-]*$'
                and tag !~ '^([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$'
                and tag !~ (
                    '^(include|define|undef|ifn?def|if|elif|else|endif|error|warning|pragma|line'
                    || '|import|region|endregion|nullable|using)$'
                )
                and substr(query, next_start, 20) ~ '^(\s|\)|$)'
                and substr(query, next_start, 20) !~ '^\s*[{}=<>~,;]'
            then
                filter := jsonb_build_object('tags', tag);
            end if;
        end if;

        if filter is not null then
            kind := 'filter';
            if part ~ '^-' then
                filter := coalesce(filter -> 'not', jsonb_build_object('not', filter));
            end if;
            if cardinality(array_remove(filters, null)) = 100 then
                perform _pgrag.query_error(start, 'these are more than 100 filters.');
            end if;
            if filter ?| '{library, version}' then
                kind := 'scope';
                if scope ?| array(select jsonb_object_keys(filter)) then
                    perform _pgrag.query_error(
                        start, format('%s is given twice.', split_part(part, ':', 1)),
                        'Write library:a,b to search in several libraries.'
                    );
                end if;
                scope := coalesce(scope, '{}') || filter;
            end if;
        elsif not is_apart and part <> ')' and kinds[newest] in ('filter', 'scope', ')') then
            perform _pgrag.query_error(
                start, format('a space is missing before %s.', part),
                'Put a value that has blanks, quotes or parentheses in quotes: title:"a (b)".'
            );
        end if;
        newest := newest + 1;
        kinds[newest] := kind;
        texts[newest] := part;
        starts[newest] := start;
        filters[newest] := filter;
        -- An opening parenthesis or its sign separates parts like a blank.
        is_apart := is_apart and (kind in ('-', '+') or part = '(');
    end loop;

    kinds := _pgrag.settled_kinds(kinds, texts, starts, unclosed);
end;
$$;

-- AND, OR, NOT and a sign before a parenthesis are operators only between filters, else words.
create or replace function _pgrag.settled_kinds(
    kinds text[],
    texts text[],
    starts integer[],
    unclosed integer[]
)
returns text[]
language plpgsql
immutable
parallel safe
as $$
declare
    opened integer;
    has_left boolean;
    has_right boolean;
begin
    foreach opened in array unclosed loop
        if kinds[opened + 1] in ('filter', 'scope', '(')
            or kinds[opened + 1] in ('not', '-')
            and kinds[opened + 2] in ('filter', 'scope', '(')
        then
            perform _pgrag.query_error(starts[opened], 'this parenthesis is not closed.');
        end if;
    end loop;
    for nth in reverse cardinality(kinds)..1 loop
        has_left := coalesce(kinds[nth - 1] in ('filter', ')'), false);
        has_right := coalesce(kinds[nth + 1] in ('filter', '(', 'not'), false);
        if kinds[nth] in ('not', '-') then
            if kinds[nth + 1] = 'scope' then
                perform _pgrag.query_error(
                    starts[nth], 'library and version cannot be excluded.',
                    'Name the ones to search in: library:a,b.'
                );
            end if;
            kinds[nth] := case when has_right then 'not' else 'word' end;
        elsif kinds[nth] = '+' then
            kinds[nth] := case when has_right then 'nothing' else 'word' end;
        elsif kinds[nth] not in ('and', 'or') or has_left and has_right then
            continue;
        elsif has_left = has_right then
            kinds[nth] := 'word';
        elsif kinds[nth] = 'and'
            and kinds[nth + case when has_left then 1 else -1 end] in ('word', 'scope')
        then
            -- Words and filters are combined by AND anyway.
            kinds[nth] := 'nothing';
        else
            perform _pgrag.query_error(
                starts[nth],
                format(
                    '%s needs a filter on its %s.',
                    texts[nth], case when has_left then 'right' else 'left' end
                ),
                format(
                    'It joins filters only: type:a OR type:b. As a word, write "%s".', texts[nth]
                )
            );
        end if;
    end loop;
    return kinds;
end;
$$;

create or replace function _pgrag.query_error(
    column_number integer,
    complaint text,
    way_out text default null
)
returns void
language plpgsql
immutable
parallel safe
as $$
begin
    raise exception 'Column % of the query: %', column_number, complaint
        using errcode = 'PGR06',
            hint = coalesce(way_out, 'As plain words, put them in quotes: "type:x".');
end;
$$;
