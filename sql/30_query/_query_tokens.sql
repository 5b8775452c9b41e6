-- What each part of a query is: a word, a filter, or what joins filters. It is decided here once,
-- from left to right, so that what is no filter stays text to the letter.
create or replace function pgrag._query_tokens(
    query text,
    parts text[],
    places integer[],
    names text,
    out kinds text[],
    out texts text[],
    out starts integer[],
    out filters jsonb[],
    out scope jsonb
)
returns record
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    part text;
    kind text;
    found jsonb;
    start integer;
    newest integer := 0;
    filter_count integer := 0;
    is_apart boolean := true;
    open_places integer[] := '{}';
    opened integer;
begin
    kinds := '{}';
    texts := '{}';
    starts := '{}';
    filters := '{}';
    for place in 1..cardinality(parts) loop
        part := parts[place];
        start := places[place];
        if part ~ '^\s' then
            is_apart := true;
            continue;
        end if;
        kind := 'word';
        found := null;
        if part = ')' then
            opened := open_places[1];
            if opened is not null then
                open_places := open_places[2:];
                if kinds[opened + 1 : newest] && '{filter, scope}' then
                    kinds[opened] := '(';
                    kind := ')';
                end if;
            elsif kinds[newest] in ('filter', 'scope', ')') then
                perform pgrag._query_error(start, 'this parenthesis was not opened.', null);
            end if;
        elsif is_apart and part = '(' then
            open_places := newest + 1 || open_places;
        elsif is_apart and part in ('AND', 'OR', 'NOT') then
            kind := lower(part);
        elsif is_apart and part in ('-', '+') and parts[place + 1] = '(' then
            kind := part;
        elsif is_apart and parts[place + 1] ~ '^["(]'
            and part ~ ('^[+-]?' || names || ':[<>=!~]*$')
        then
            perform pgrag._query_error(
                places[place + 1],
                case left(parts[place + 1], 1)
                    when '"' then 'this quote is not closed.'
                    else 'this list is not closed.'
                end,
                'Write title:"two words", with \" for a quote in it, or tags:(a b).'
            );
        elsif is_apart and part ~ ('^[+-]?' || names || ':(?![\s:)]|//|$)')
            -- <a type:x>, {type:x;}: code.
            and (right(part, 1) not in (';', '}', '>') or part ~ ':[<>=!~]+$')
        then
            found := pgrag._query_filter(part, start);
        elsif is_apart and part ~ '^[+-]?#[[:alpha:]]' then
            found := pgrag._query_tag(part, substr(query, start + length(part), 20));
        end if;

        if found is not null then
            kind := 'filter';
            filter_count := filter_count + 1;
            if filter_count > 100 then
                perform pgrag._query_error(start, 'these are more than 100 filters.', null);
            end if;
            if found ?| '{library, version}' then
                kind := 'scope';
                if scope ?| array(select jsonb_object_keys(found)) then
                    perform pgrag._query_error(
                        start, format('%s is given twice.', split_part(part, ':', 1)),
                        'Write library:a,b to search in several libraries.'
                    );
                end if;
                scope := coalesce(scope, '{}') || found;
            end if;
        elsif not is_apart and part <> ')' and kinds[newest] in ('filter', 'scope', ')') then
            perform pgrag._query_error(
                start, format('a blank is missing before %s.', part),
                'Put a value that has blanks, quotes or parentheses in quotes: title:"a (b)".'
            );
        end if;
        newest := newest + 1;
        kinds[newest] := kind;
        texts[newest] := part;
        starts[newest] := start;
        filters[newest] := found;
        -- What stands behind an opening parenthesis, or its sign, stands at a border as well.
        is_apart := is_apart and (kind in ('-', '+') or part = '(');
    end loop;

    foreach opened in array open_places loop
        if kinds[opened + 1] in ('filter', 'scope', '(')
            or kinds[opened + 1] in ('not', '-')
            and kinds[opened + 2] in ('filter', 'scope', '(')
        then
            perform pgrag._query_error(starts[opened], 'this parenthesis is not closed.', null);
        end if;
    end loop;
    kinds := pgrag._query_operators(kinds, texts, starts);
end;
$$;

-- AND, OR, NOT and a sign before a parenthesis join filters, or they are words like others.
create or replace function pgrag._query_operators(
    kinds text[],
    texts text[],
    starts integer[]
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    resolved text[] := kinds;
    has_left boolean;
    has_right boolean;
begin
    for place in reverse cardinality(kinds)..1 loop
        has_left := coalesce(kinds[place - 1] in ('filter', ')'), false);
        has_right := coalesce(resolved[place + 1] in ('filter', '(', 'not'), false);
        if kinds[place] in ('not', '-') then
            if resolved[place + 1] = 'scope' then
                perform pgrag._query_error(
                    starts[place], 'library and version cannot be excluded.',
                    'Name the ones to search in: library:a,b.'
                );
            end if;
            resolved[place] := case when has_right then 'not' else 'word' end;
        elsif kinds[place] = '+' then
            resolved[place] := case when has_right then 'nothing' else 'word' end;
        elsif kinds[place] in ('and', 'or') then
            if not has_left and not has_right then
                resolved[place] := 'word';
            elsif has_left and has_right then
                null;
            elsif kinds[place] = 'and'
                and (case when has_left then resolved[place + 1] else kinds[place - 1] end)
                    in ('word', 'scope')
            then
                -- Words and filters hold together anyway.
                resolved[place] := 'nothing';
            else
                perform pgrag._query_error(
                    starts[place],
                    format(
                        '%s needs a filter on its %s.',
                        texts[place], case when has_left then 'right' else 'left' end
                    ),
                    format(
                        'It joins filters only: type:a OR type:b. As a word, write "%s".',
                        texts[place]
                    )
                );
            end if;
        end if;
    end loop;
    return resolved;
end;
$$;

create or replace function pgrag._query_error(
    place integer,
    complaint text,
    way_out text
)
returns void
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    raise exception 'Column % of the query: %', place, complaint
        using errcode = 'PGR06',
            hint = coalesce(way_out, 'As plain words, put them in quotes: "type:x".');
end;
$$;

-- #name is a tag, unless it reads as code: a preprocessor's word, a colour, or a name that goes on
-- with a sign (#main { … }, #count = 1).
create or replace function pgrag._query_tag(
    part text,
    rest text
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select case
        when tag.name !~ '^[[:alpha:]][[:alnum:]_/-]*$'
            or tag.name ~ '^([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$'
            or tag.name ~ (
                '^(include|define|undef|ifn?def|if|elif|else|endif|error|warning|pragma|line|import'
                || '|region|endregion|nullable|using)$'
            )
            or _query_tag.rest !~ '^(\s|\)|$)'
            or _query_tag.rest ~ '^\s*[{}=<>~,;]'
        then null
        when pg_catalog.starts_with(_query_tag.part, '-')
        then pg_catalog.jsonb_build_object(
            'not', pg_catalog.jsonb_build_object('tags', tag.name)
        )
        else pg_catalog.jsonb_build_object('tags', tag.name)
    end
    from (select pg_catalog.ltrim(_query_tag.part, '+-#') as name) as tag;
$$;
