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
begin
    if coalesce(written, '') = '' or length(written) > 1000 then
        raise exception 'The pattern must have 1 to 1000 characters, got %.',
            length(coalesce(written, ''))
            using errcode = 'PGR01';
    end if;
    if (line_expression.mode in ('literal', 'word', 'regex')) is not true then
        raise exception 'mode must be literal, word or regex, got %.',
            quote_nullable(left(line_expression.mode, 200))
            using errcode = 'PGR01';
    end if;
    if (line_expression.case_mode in ('sensitive', 'ignore', 'smart')) is not true then
        raise exception 'case_mode must be sensitive, ignore or smart, got %.',
            quote_nullable(left(line_expression.case_mode, 200))
            using errcode = 'PGR01';
    end if;
    if strpos(written, E'\n') > 0 then
        raise exception 'The pattern has a line end, and is looked for within lines.'
            using errcode = 'PGR01', hint = 'Search for one line, and read the next as context.';
    end if;

    if line_expression.mode = 'regex' then
        -- (?m) and (?s) have no effect within a line, nor has (?u): everything is Unicode.
        flags := coalesce(substring(written from '^\(\?([imsxu]+)\)'), '');
        written := regexp_replace(written, '^\(\?[imsxu]+\)', '');
        -- Tokens: escapes, bracket expressions, and single characters.
        tokens := array(
            select m[1]
            from regexp_matches(
                written, '\\.|\[\^?\]?(?:\\.|\[:[^:\]]*:\]|[^\]\\])*\]|.', 'g'
            ) as m
        );
        perform _pgrag.refuse_foreign_syntax(tokens, length(line_expression.pattern)
            - length(written));
        select
            string_agg(t.token, '' order by t.nth) filter (where t.token !~ '^\\'),
            string_agg(
                case t.token
                    when '\b' then '\y'
                    when '\B' then '\Y'
                    when '\<' then '\m'
                    when '\>' then '\M'
                    when '\z' then '\Z'
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

-- Refuses syntax that PostgreSQL lacks or reads differently: its own message would mislead.
create or replace function _pgrag.refuse_foreign_syntax(
    tokens text[],
    skipped integer
)
returns void
language plpgsql
immutable
parallel safe
as $$
declare
    -- The pattern with escapes and bracket expressions masked; its length is the same.
    skeleton text := (
        select string_agg(
            case when length(t.token) > 1 then repeat('_', length(t.token)) else t.token end,
            '' order by t.place
        )
        from unnest(refuse_foreign_syntax.tokens) with ordinality as t (token, place)
    );
    foreign_part record;
begin
    select f.*
    into foreign_part
    from (
        select
            regexp_instr(skeleton, k.expression) as place,
            substring(skeleton from k.expression) as part,
            k.name,
            k.remedy
        from (values
            ('\(\?P?<[[:alpha:]_]+>?', 'a named group', 'Write a plain group: ( ).'),
            ('\(\?>', 'an atomic group', 'Write a plain group: ( ).'),
            ('\(\?[[:alpha:]^-]+[:)]?', 'flags for a part of the pattern',
                'Flags stand at the beginning: (?i), (?x). Or use case_mode.'),
            ('[*+?}]\+', 'a possessive quantifier', 'Leave the second sign out.'),
            ('^\*\*\*', 'a prefix', 'Write \* for a star.')
        ) as k (expression, name, remedy)
        where skeleton ~ k.expression
        union all
        select
            1 + (
                select coalesce(sum(length(e.token)), 0)
                from unnest(refuse_foreign_syntax.tokens) with ordinality as e (token, place)
                where e.place < t.place
            ),
            t.token,
            k.name,
            k.remedy
        from unnest(refuse_foreign_syntax.tokens) with ordinality as t (token, place)
        join (values
            ('^(\\[pP]$|\[.*\\[pP]\{)', 'a Unicode property',
                'Write [[:alpha:]], [[:upper:]], [[:punct:]], \w, \d or \s.'),
            ('^\\[QEKGRXhHNC]$', 'an escape of Perl', 'Escape single characters, as in \..'),
            ('^(\\n$|\[.*\\n)', 'a line end',
                'Search for one line, and read the next as context.'),
            ('&&|~~|\[:\^', 'a set operation', 'Write one set: [a-z], or [^a-z].')
        ) as k (expression, name, remedy) on t.token ~ k.expression
            and (t.token ~ '^\\|^\[' or k.name <> 'a set operation')
        union all
        select regexp_instr(c.written, '\\[xu]\{'), '\x{', 'a code point in braces',
            'Write \u and four digits: \u00e4.'
        from array_to_string(refuse_foreign_syntax.tokens, '') as c (written)
        where c.written ~ '\\[xu]\{'
    ) as f
    order by f.place
    limit 1;
    if found then
        raise exception 'The pattern has % (%) at character %, which PostgreSQL does not know.',
            foreign_part.name, left(foreign_part.part, 50),
            foreign_part.place + refuse_foreign_syntax.skipped
            using errcode = 'PGR01', hint = foreign_part.remedy;
    end if;
end;
$$;
