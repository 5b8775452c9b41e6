-- Translates a ripgrep pattern into a regular expression of PostgreSQL for single lines. Syntax
-- that would silently mean something else here is translated, or refused with its position.
create or replace function _pgrag.line_expression(
    pattern text,
    mode text,
    case_mode text
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    written text := line_expression.pattern;
    flags text := '';
    tokens text[];
    letters text;
    foreign_part record;
begin
    if coalesce(written, '') = '' or length(written) > 1000 then
        raise exception 'The pattern must have 1 to 1000 characters, got %.',
            length(coalesce(written, ''))
            using errcode = 'PGR01';
    end if;
    perform _pgrag.check_choice('mode', mode, '{literal, word, regex}');
    perform _pgrag.check_choice('case_mode', case_mode, '{sensitive, ignore, smart}');
    if strpos(written, E'\n') > 0 then
        raise exception 'The pattern has a line end, but is matched line by line.'
            using errcode = 'PGR01', hint = 'Search for one line, and read the next as context.';
    end if;

    if line_expression.mode = 'regex' then
        -- (?m) and (?s) have no effect within a line, nor has (?u): everything is Unicode.
        flags := coalesce(substring(written from '^\(\?([imsxu]+)\)'), '');
        written := regexp_replace(written, '^\(\?[imsxu]+\)', '');
        -- Tokens: escapes, bracket expressions, signs that only other engines know, and single
        -- characters.
        tokens := array(
            select m[1]
            from regexp_matches(
                written,
                '\\[xu]\{|\\.|\[\^?\]?(?:\\.|\[:[^:\]]*:\]|[^\]\\])*\]'
                '|\(\?P?<[[:alpha:]_]+>?|\(\?>|\(\?[[:alpha:]^-]+[:)]?|[*+?}]\+|^\*\*\*|.',
                'g'
            ) as m
        );
        -- Syntax that PostgreSQL lacks or reads differently: its own message would mislead.
        select
            k.name, k.remedy, left(t.token, 50) as text,
            length(line_expression.pattern) - length(written)
                + length(array_to_string(tokens[:t.nth - 1], '')) + 1 as start
        into foreign_part
        from unnest(tokens) with ordinality as t (token, nth)
        join (values
            ('^\(\?P?<', 'a named group', 'Write a plain group: ( ).'),
            ('^\(\?>', 'an atomic group', 'Write a plain group: ( ).'),
            ('^\(\?[[:alpha:]^-]+[:)]?$', 'flags for a part of the pattern',
                'Flags stand at the beginning: (?i), (?x). Or use case_mode.'),
            ('^[*+?}]\+$', 'a possessive quantifier', 'Leave the second sign out.'),
            ('^\*\*\*', 'a prefix', 'Write \* for a star.'),
            ('^(\\[pP]$|\[.*\\[pP]\{)', 'a Unicode property',
                'Write [[:alpha:]], [[:upper:]], [[:punct:]], \w, \d or \s.'),
            ('^\\[QEKGRXhHNC]$', 'an escape of Perl', 'Escape single characters, as in \..'),
            ('^(\\n$|\[.*\\n)', 'a line end',
                'Search for one line, and read the next as context.'),
            ('^(?=\[).*(&&|~~|\[:\^)', 'a set operation', 'Write one set: [a-z], or [^a-z].'),
            ('^(\\|\[.*\\)[xu]\{', 'a code point in braces',
                'Write \u and four digits: \u00e4.')
        ) as k (expression, name, remedy) on t.token ~ k.expression
        order by t.nth
        limit 1;
        if found then
            raise exception 'The pattern has % (%) at character %, which PostgreSQL does not know.',
                foreign_part.name, foreign_part.text, foreign_part.start
                using errcode = 'PGR01', hint = foreign_part.remedy;
        end if;
        select
            string_agg(t.token, '' order by t.nth) filter (where t.token !~ '^\\'),
            string_agg(
                -- PostgreSQL has other letters for word boundaries and the end of the text.
                case
                    when t.token ~ '^\\[bB<>z]$' then translate(t.token, 'bB<>z', 'yYmMZ')
                    else t.token
                end,
                '' order by t.nth
            )
        into letters, written
        from unnest(tokens) with ordinality as t (token, nth);
    else
        letters := written;
        written := regexp_replace(written, '[][\\.*+?(){}|^$#-]', '\\\&', 'g');
    end if;
    if line_expression.mode = 'word' then
        written := format('(?<!\w)%s(?!\w)', written);
    end if;
    return format(
        '(?n%s%s)%s',
        case
            when line_expression.case_mode = 'ignore'
                or strpos(flags, 'i') > 0
                or (line_expression.case_mode = 'smart' and lower(letters) = letters)
            then 'i'
        end,
        case when strpos(flags, 'x') > 0 then 'x' end,
        written
    );
end;
$$;
