-- The tokens of a page query with kind, column and word (in lower case); literals have a value.
-- date(…) and dur(…) of a literal are tokens too.
create or replace function _pgrag.page_query_tokens(
    query text
)
returns jsonb
language plpgsql
stable
parallel safe
as $$
declare
    kinds constant text[] := '{blank,text,link,tag,number,date,duration,sign,command,word,other}';
    -- One group for each kind. The longest match counts; sort(…) is a function.
    pattern constant text := '(?i)(\s+)|("(?:[^"\\]|\\.)*")|(\[\[[^][]*\]\])'
        '|(#[^\s"''`#()\[\]{}<>=!,.+*%&|;:?@\\^~$]+)|(\d+(?:\.\d+)?)'
        '|(date\(\s*(?:\d{4}-\d[^()",\s]*|today|now|tomorrow|yesterday|[se]o[wmy]'
        '|(?:start|end)-of-(?:week|month|year))\s*\))|(dur\(\s*\d[^()"]*\))'
        '|(<=|>=|!=|[][(){}<>=!,.+*/%&|-])'
        '|(from|where|sort(?!\()|group\s+by(?![\w-])|flatten|limit)'
        '|([^\s\d"''`#()\[\]{}<>=!,.+*/%&|;:?@\\^~$-][^\s"''`#()\[\]{}<>=!,.+*/%&|;:?@\\^~$]*)|(.)';
    now constant timestamp := localtimestamp;
    tokens jsonb;
    token jsonb;
    written text;
    complaint text;
    way_out text;
begin
    if length(query) > 10000 then
        perform _pgrag.page_query_error('{"at": 10001}', 'a query has 10,000 characters at most');
    end if;
    select jsonb_agg(
        jsonb_build_object(
            'kind', t.kind, 'text', t.text, 'at', t.stop - length(t.text), 'end', t.stop,
            'word', case t.text
                when '|' then 'or'
                when '&' then 'and'
                else regexp_replace(lower(t.text), '\s+', ' ')
            end
        )
        || case when v.value is null then '{}' else jsonb_build_object('value', v.value) end
        order by t.stop
    )
    into tokens
    from (
        select
            p.kind, p.text,
            (1 + sum(length(p.text)) over (order by m.nth))::integer as stop,
            btrim(regexp_replace(p.text, '^[^(]*\(|\)$', '', 'g')) as argument
        from regexp_matches(page_query_tokens.query, pattern, 'g') with ordinality
            as m (parts, nth)
        cross join lateral unnest(kinds, m.parts) as p (kind, text)
        where p.text is not null
    ) as t
    cross join lateral (
        select case
            when t.kind = 'text' then to_jsonb(
                regexp_replace(substr(t.text, 2, length(t.text) - 2), '\\(["\\])', '\1', 'g')
            )
            when t.kind = 'number' then to_jsonb(t.text::numeric)
            when t.kind in ('link', 'tag') then to_jsonb(t.text)
            when t.kind = 'date' then to_jsonb(
                -- Words such as today are relative to now in the time zone of the session.
                case regexp_replace(lower(t.argument), '^(s|e)[a-z]+-of-(.).*$', '\1o\2')
                    when 'today' then now::date::text
                    when 'now' then to_char(now, 'YYYY-MM-DD"T"HH24:MI:SS')
                    when 'tomorrow' then (now::date + 1)::text
                    when 'yesterday' then (now::date - 1)::text
                    when 'sow' then date_trunc('week', now)::date::text
                    when 'eow' then (date_trunc('week', now)::date + 6)::text
                    when 'som' then date_trunc('month', now)::date::text
                    when 'eom' then (date_trunc('month', now) + interval '1 mon -1 day')::date::text
                    when 'soy' then date_trunc('year', now)::date::text
                    when 'eoy' then (date_trunc('year', now) + interval '1 year -1 day')::date::text
                    else t.argument
                end
            )
            when t.kind = 'duration' then to_jsonb(t.argument)
            when lower(t.text) in ('true', 'false', 'null') then lower(t.text)::jsonb
        end
    ) as v (value)
    where t.kind <> 'blank';

    for token in select t from jsonb_array_elements(tokens) as t loop
        written := quote_literal(coalesce(token ->> 'value', token ->> 'text'));
        complaint := null;
        if token ->> 'kind' = 'other' then
            complaint := case written
                when '''"''' then 'this quote is not closed' else written || ' has no meaning here'
            end;
            way_out := 'Write texts in double quotes, with \" for a quote and \\ for a backslash.';
        elsif token ->> 'kind' = 'number' and length(token ->> 'text') > 40 then
            complaint := 'this number is too long';
            way_out := 'Write 40 digits at most.';
        elsif token ->> 'kind' = 'date' and _pgrag.moment(token -> 'value') is null then
            complaint := written || ' is not a date';
            way_out := 'Write date(2024-12-01), date(2024-12-01T08:30) or date(today).';
        elsif token ->> 'kind' = 'duration' and _pgrag.duration(token -> 'value') is null then
            complaint := written || ' is not a duration';
            way_out := 'Write dur(7 days) or dur(1 month, 2 weeks): years, months, weeks, days,'
                ' hours, minutes, seconds.';
        end if;
        if complaint is not null then
            perform _pgrag.page_query_error(token, complaint, way_out);
        end if;
    end loop;
    return coalesce(tokens, '[]') || jsonb_build_object(
        'kind', 'end', 'text', 'the end of the query', 'word', '', 'at', length(query) + 1
    );
end;
$$;

-- Raises an error at a token or a node; if something else was expected, names the text found.
create or replace function _pgrag.page_query_error(
    token jsonb,
    complaint text,
    way_out text default null
)
returns void
language plpgsql
immutable
parallel safe
as $$
begin
    raise exception 'Column % of the query: %.', token ->> 'at', concat_ws(
        ', found ',
        complaint,
        case
            when complaint not like 'expected %' then null
            when token ->> 'kind' = 'end' then token ->> 'text'
            else quote_literal(left(coalesce(token ->> 'text', token ->> 'call'), 60))
        end
    )
        using errcode = 'PGR16',
            column = token ->> 'at',
            hint = coalesce(
                way_out, 'For example: TABLE status, due FROM #project WHERE due SORT due DESC.'
            );
end;
$$;
