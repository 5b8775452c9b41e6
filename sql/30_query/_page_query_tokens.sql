-- A query over pages as its smallest parts, each with the column where it stands: words, numbers,
-- quoted texts, [[links]], #tags, signs, and date(…) and dur(…) where they hold no expression.
create or replace function pgrag._page_query_tokens(
    query text
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    word constant text := '[^\s\d"''`#()\[\]{}<>=!,.+*/%&|;:?@\\^~$-]'
        '[^\s"''`#()\[\]{}<>=!,.+*/%&|;:?@\\^~$]*';
    tokens jsonb;
    bad jsonb;
begin
    if length(query) > 10000 then
        perform pgrag._page_query_error(10001, 'a query has 10,000 characters at most.', null);
    end if;
    select jsonb_agg(
        jsonb_build_object(
            'kind', t.kind, 'text', t.text, 'at', t.start, 'end', t.start + length(t.text)
        )
        order by t.start
    )
    into tokens
    from (
        select
            m.part[1] as text,
            (1 + sum(length(m.part[1])) over (order by m.place))::integer - length(m.part[1])
                as start,
            case
                when m.part[1] ~ '^\s' then 'blank'
                when m.part[1] ~ '^".*"$' and length(m.part[1]) > 1 then 'text'
                when m.part[1] ~ '^"' then 'quote'
                when m.part[1] ~ '^\[\[' then 'link'
                when m.part[1] ~ '^#.' then 'tag'
                when m.part[1] ~ '^\d' then 'number'
                when m.part[1] ~* '^date\(' then 'date'
                when m.part[1] ~* '^dur\(' then 'duration'
                when m.part[1] ~ '^(<=|>=|!=|[][(){}<>=!,.+*/%&|-])$' then 'sign'
                when m.part[1] ~ ('^' || word || '$') then 'word'
                else 'other'
            end as kind
        from regexp_matches(
            _page_query_tokens.query,
            '\s+|"(?:[^"\\]|\\.)*"|\[\[[^][]*\]\]|#[^\s"''`#()\[\]{}<>=!,.+*%&|;:?@\\^~$]+'
            '|\d+(?:\.\d+)?|[Dd][Aa][Tt][Ee]\(\s*(?:\d{4}-\d[^()",\s]*|[a-z-]+)\s*\)'
            '|[Dd][Uu][Rr]\(\s*\d[^()"]*\)|<=|>=|!=|' || word || '|.',
            'g'
        ) with ordinality as m (part, place)
    ) as t
    where t.kind <> 'blank';
    tokens := coalesce(tokens, '[]');

    select t
    into bad
    from jsonb_array_elements(tokens) as t
    where t ->> 'kind' in ('quote', 'other')
        or t ->> 'kind' = 'number' and length(t ->> 'text') > 40
    limit 1;
    if bad is not null then
        perform pgrag._page_query_error(
            (bad ->> 'at')::integer,
            case bad ->> 'kind'
                when 'quote' then 'this quote is not closed.'
                when 'number' then 'this number is too long.'
                else format('%s has no meaning here.', quote_literal(bad ->> 'text'))
            end,
            case bad ->> 'kind'
                when 'number' then null
                else 'Write texts in double quotes, with \" for a quote and \\ for a backslash.'
            end
        );
    end if;
    return tokens || jsonb_build_object(
        'kind', 'end', 'text', '', 'at', length(query) + 1, 'end', length(query) + 1
    );
end;
$$;

create or replace function pgrag._page_query_error(
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
        using errcode = 'PGR16',
            column = place::text,
            hint = coalesce(
                way_out, 'For example: TABLE status, due FROM #project WHERE due SORT due DESC.'
            );
end;
$$;

create or replace function pgrag._page_query_expected(
    token jsonb,
    expected text,
    way_out text default null
)
returns void
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    perform pgrag._page_query_error(
        (token ->> 'at')::integer,
        format(
            'expected %s, found %s.',
            expected,
            case token ->> 'kind'
                when 'end' then 'the end of the query'
                else quote_literal(left(token ->> 'text', 60))
            end
        ),
        way_out
    );
end;
$$;
