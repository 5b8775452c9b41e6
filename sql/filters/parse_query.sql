-- Filters inside the text of a query. Most queries have none and read like code or prose, so only
-- unmistakable syntax counts: a known name, a colon and a value without a blank between them, or
-- #tag, and never inside a word or a quoted phrase.
create or replace function pgrag.parse_query(
    query text,
    out words text,
    out filters jsonb
)
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
    tokens record;
    joined jsonb;
    reading text;
    message text;
    way_out text;
    place integer;
begin
    words := parse_query.query;
    -- Most queries have neither sign, and testing for the names is slower.
    if (
        translate(words, ':#', '') <> words
        and words ~ ('(?:^|[\s(])[+-]?(?:' || names || ':[^\s:)]|#[[:alpha:]])')
    ) is not true then
        return;
    end if;

    -- Prose has hashes and parentheses, too: if parentheses or operators do not match, each #tag is
    -- a word; and parentheses that still do not match are words.
    foreach reading in array array['all', 'no tags', 'no groups'] loop
        begin
            tokens := _pgrag.query_tokens(
                words, names, reading = 'all', with_groups => reading <> 'no groups'
            );
            joined := _pgrag.joined_filters(tokens.kinds, tokens.starts, tokens.filters);
            if reading = 'no groups' then
                raise notice '%', message using hint = 'The parentheses were read as words.';
            end if;
            exit;
        exception
            when sqlstate 'PGR06' then
                get stacked diagnostics message = message_text, way_out = pg_exception_hint;
                if reading = 'no groups' or reading = 'no tags' and message !~ 'parenthes' then
                    -- The hint quotes what the user wrote.
                    place := substring(message from 'Column (\d+)')::integer;
                    raise exception '%', message
                        using errcode = 'PGR06',
                            hint = replace(
                                way_out, '"type:x"',
                                '"' || coalesce(substring(left(words, place - 1) from '\S*$'), '')
                                    || coalesce(substring(substr(words, place) from '^\S*'), '')
                                    || '"'
                            );
                end if;
        end;
    end loop;
    if 'filter' = any (tokens.kinds) or tokens.scope is not null then
        filters := coalesce(joined, '{}') || coalesce(tokens.scope, '{}');
        -- The words in their order; words without a blank between them stay joined.
        words := (
            select coalesce(
                string_agg(
                    case when w.start > w.last_end then ' ' else '' end || w.part,
                    '' order by w.start
                ),
                ''
            )
            from (
                select
                    t.part, t.start,
                    lag(t.start + length(t.part)) over (order by t.start) as last_end
                from unnest(tokens.kinds, tokens.texts, tokens.starts) as t (kind, part, start)
                where t.kind = 'word'
            ) as w
        );
    end if;
end;
$$;

comment on function pgrag.parse_query is
'Splits a query into the words to search for and its inline filters, in the form that
filter_predicate and search take: type:guide, tags:a,b (any), tags:a b (both: bare words after it
are tags), title:"two words", created:>=2024-12-01, created:2024-01-01..2024-12-31, links:note,
front_matter.status:draft, #tag, -type:x, joined by AND, OR, NOT and parentheses; adjacent filters
are combined by AND. A query without filters is returned unchanged, with filters null. If there are
filters, only the first 10,000 characters count. Parentheses that do not match, or hold words and
filters, are words, and a notice says so. Errors: PGR06, naming the column (characters, from 1).';
