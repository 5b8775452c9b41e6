-- Filters inside the text of a query. Most queries hold none and read like code or prose, so only
-- what can hardly be anything else is one: a known name, a colon and a value without a blank
-- between them, or #tag, and nothing of it inside a word or a quoted phrase.
create or replace function pgrag.parse_query(
    query text,
    out words text,
    out filters jsonb
)
returns record
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    names constant text := '(?:front_matter\.[^\s:()",]+|tags?|types?|content_tags|keywords?|topic'
        '|title|heading|section(?:_path)?|root_section|path|lang(?:uage)?|library|version|links?'
        '|key|url|page|uuid|created|modified|date|before|after|position|depth(?:_m(?:in|ax))?'
        '|(?:heading_)?level)';
    parts record;
    tokens record;
begin
    words := parse_query.query;
    if words !~ ('(?:^|[\s(])[+-]?(?:' || names || ':[^\s:)]|#[[:alpha:]])') is not false then
        return;
    end if;

    select
        array_agg(p.part order by p.place) as texts,
        array_agg(p.start order by p.place) as starts
    into parts
    from (
        select
            m.part[1] as part,
            m.place,
            (1 + sum(length(m.part[1])) over (order by m.place))::integer - length(m.part[1])
                as start
        from regexp_matches(
            left(words, 10000),
            '\s+|[()]|[^\s()"]+|[+-]?"[^"]*"|"'
            '|[+-]?[a-z_]+(?:\.[^\s:()",]+)?:[<>=!~]*(?:\((?:[^()"]|"(?:[^"\\]|\\.)*")*\)'
            '|(?:[^\s()"]|\([^\s()"]*\)|"(?:[^"\\]|\\.)*")+)',
            'g'
        ) with ordinality as m (part, place)
    ) as p;
    tokens := pgrag._query_tokens(words, parts.texts, parts.starts, names);
    if 'filter' = any (tokens.kinds) or tokens.scope is not null then
        filters := pgrag._joined_filters(tokens.kinds, tokens.starts, tokens.filters);
        filters := coalesce(filters, '{}') || coalesce(tokens.scope, '{}');
        words := pgrag._remaining_words(tokens.kinds, tokens.texts, tokens.starts);
    end if;
end;
$$;

comment on function pgrag.parse_query(text) is
'Splits a query into the words to search for and the filters written among them, as filter_predicate
and search take them: type:guide, tags:a,b, title:"two words", created:>=2024-12-01,
created:2024-01-01..2024-12-31, links:note, front_matter.status:draft, #tag, -type:x, joined by AND,
OR, NOT and parentheses. Side by side they must all hold. A query without any comes back as it is,
filters null. Only the first 10,000 characters count where there are filters. Errors: PGR06, naming
the column (characters, from 1).';
