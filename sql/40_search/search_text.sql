-- The lines of the sources that a pattern matches, as ripgrep lists them: a first look at whole
-- pages, which an index can answer, then the lines of the pages that are left, page by page.
create or replace function pgrag.search_text(
    pattern text,
    library text,
    version text default null,
    mode text default 'literal',
    case_mode text default 'sensitive',
    context integer default 0,
    path text default null,
    match_count integer default 100,
    after text default null,
    timeout_ms integer default 5000
)
returns table (
    page_id bigint,
    key text,
    title text,
    line integer,
    "column" integer,
    content text,
    matches jsonb,
    lines_before text[],
    lines_after text[],
    document_id bigint,
    cursor text
)
language plpgsql
stable
-- Whether the pattern is one is tried out, which needs a subtransaction.
parallel unsafe
rows 100
set search_path from current
-- The pattern must be known to the planner, or it cannot use an index for it.
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
    owner_id bigint := pgrag._library_id(search_text.library);
    wanted_version bigint := (
        select r.version_id
        from pgrag.resolve_version(search_text.library, search_text.version) as r
    );
    deadline timestamptz;
    keys text := pgrag._glob_expression(search_text.path);
    expression text;
    page_expression text;
    after_key text;
    after_line integer;
begin
    if (
        search_text.context between 0 and 100
        and search_text.match_count between 0 and 100000
        and search_text.timeout_ms between 1 and 3600000
    ) is not true then
        raise exception
            'context must be 0 to 100, match_count 0 to 100000, timeout_ms 1 to 3600000;'
            ' got %, % and %.',
            coalesce(search_text.context::text, 'null'),
            coalesce(search_text.match_count::text, 'null'),
            coalesce(search_text.timeout_ms::text, 'null')
            using errcode = 'PGR01';
    end if;
    if search_text.after is not null then
        after_key := substring(search_text.after from '^(.*):\d{1,9}$');
        after_line := substring(search_text.after from ':(\d{1,9})$')::integer;
        if after_key is null then
            raise exception 'after must be the cursor of a row, got %.',
                quote_literal(left(search_text.after, 200))
                using errcode = 'PGR07', hint = 'Leave it out to begin with the first line.';
        end if;
    end if;
    expression := pgrag._line_expression(
        search_text.pattern, search_text.mode, search_text.case_mode
    );
    -- What looks around, or for the ends of the text, may find in a line what is not in the page.
    if expression !~ '\\[AZ]|\(\?<?[=!]' or search_text.mode = 'word' then
        page_expression := expression;
    end if;
    perform pgrag._try_expression(expression, search_text.pattern, 'pattern');
    perform pgrag._try_expression(keys, search_text.path, 'path');
    deadline := clock_timestamp() + search_text.timeout_ms * interval '1 ms';

    return query
    select
        f.page_id,
        f.key,
        f.title,
        f.line,
        (m.ranges -> 0 ->> 'start')::integer,
        f.content,
        m.ranges,
        f.lines_before,
        f.lines_after,
        (
            select d.document_id
            from pgrag.documents as d
            where d.library_id = owner_id
                and d.page_id = f.page_id
                and (f.line between d.line_start and d.line_end or d.level = 0)
            order by d.level desc, d.line_end - d.line_start, d.sort_order
            limit 1
        ),
        format('%s:%s', f.key, f.line)
    from (
        select p.page_id, p.key, p.title, l.*
        from pgrag.pages as p
        cross join lateral pgrag._matching_lines(
            p.head || p.body,
            expression,
            case when p.key = after_key then after_line else 0 end,
            search_text.match_count,
            search_text.context
        ) as l
        where p.library_id = owner_id
            and p.version_id = wanted_version
            and (after_key is null or p.key >= after_key)
            and (keys is null or p.key ~ keys)
            and pgrag._in_time(p.page_id, deadline, search_text.timeout_ms)
            and (page_expression is null or (p.head || p.body) ~ page_expression)
        order by p.key, l.line
        limit search_text.match_count
    ) as f
    cross join lateral pgrag._line_matches(f.content, expression) as m (ranges)
    order by f.key, f.line;
end;
$$;

comment on function pgrag.search_text(
    text, text, text, text, text, integer, text, integer, text, integer
) is
'The lines of the sources (front matter and body, as they were written) of one version of a library
(see resolve_version) in which a pattern occurs, by key and line; line ends are no part of a line.
mode: literal; word (literal, and not within a word); regex (a regular expression of PostgreSQL;
\b, \B, \< and \> mean what they mean elsewhere). case_mode: sensitive, ignore, or smart (ignore
unless the pattern has a capital letter). context: so many lines before and after, 0 to 100. path:
a glob over the keys, as for pgrag index (docs/*.md, guide/, **/a.md). after: the cursor of the last
row of the answer before. line counts from 1 in the file; column and matches (start and end, the end
exclusive, at most 100 a line) from 1 in characters; document_id is the chunk that holds the line.
timeout_ms: after so many milliseconds it gives up; looked at between pages. Errors: PGR01 (also for
a bad pattern or path), PGR02, PGR03, PGR07, PGR15 (out of time).';

-- Only pages that match come here: splitting costs more than looking.
create or replace function pgrag._matching_lines(
    source text,
    expression text,
    after_line integer,
    match_count integer,
    context integer
)
returns table (
    line integer,
    content text,
    lines_before text[],
    lines_after text[]
)
language sql
stable
parallel safe
rows 3
set search_path from current
as $$
    with source_lines as materialized (
        -- What follows the last line end is no line.
        select split.lines[:cardinality(split.lines)
            - (right(_matching_lines.source, 1) in ('', E'\n'))::integer] as lines
        from string_to_array(_matching_lines.source, E'\n') as split (lines)
    )
    select
        m.line::integer,
        m.content,
        case
            when _matching_lines.context > 0
            then s.lines[greatest(1, m.line - _matching_lines.context):m.line - 1]
            else '{}'
        end,
        case
            when _matching_lines.context > 0
            then s.lines[m.line + 1:m.line + _matching_lines.context]
            else '{}'
        end
    from source_lines as s
    cross join lateral (
        select l.line, l.content
        from unnest(s.lines) with ordinality as l (content, line)
        where l.line > _matching_lines.after_line and l.content ~ _matching_lines.expression
        order by l.line
        limit _matching_lines.match_count
    ) as m
    order by m.line;
$$;

-- Where a line matches: columns from 1, ends exclusive, the first hundred. In one pass: each match
-- is put between two marks, and their places are counted.
create or replace function pgrag._line_matches(
    content text,
    expression text
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select pg_catalog.jsonb_agg(
        pg_catalog.jsonb_build_object('start', m.place, 'end', m.place + m.length)
        order by m.number
    )
    from (
        select
            piece.number,
            -- What came before, the first piece and the matches with what followed them.
            1 + pg_catalog.sum(pg_catalog.length(piece.content) - (piece.number > 1)::integer)
                over (order by piece.number)
                - (pg_catalog.length(piece.content) - 1) as place,
            pg_catalog.strpos(piece.content, pg_catalog.chr(2)) - 1 as length
        from pg_catalog.string_to_table(
            pg_catalog.regexp_replace(
                pg_catalog.translate(
                    _line_matches.content, pg_catalog.chr(1) || pg_catalog.chr(2), '  '
                ),
                _line_matches.expression,
                pg_catalog.chr(1) || '\&' || pg_catalog.chr(2),
                'g'
            ),
            pg_catalog.chr(1)
        ) with ordinality as piece (content, number)
    ) as m
    where m.number between 2 and 101;
$$;

-- A condition that is true until the time is over: with the row as an argument, asked for each.
create or replace function pgrag._in_time(
    page_id bigint,
    deadline timestamptz,
    timeout_ms integer
)
returns boolean
language plpgsql
stable
parallel safe
-- Less than any other condition, so that it is the first.
cost 0.01
set search_path from current
as $$
begin
    if clock_timestamp() > _in_time.deadline then
        raise exception 'The search took more than % ms.', _in_time.timeout_ms
            using errcode = 'PGR15',
                hint = 'Name a path, write a simpler or longer pattern, raise timeout_ms, or'
                    ' make the index of pgrag.index_sources.';
    end if;
    return true;
end;
$$;

create or replace function pgrag._try_expression(
    expression text,
    written text,
    argument text
)
returns void
language plpgsql
stable
set search_path from current
as $$
declare
    complaint text;
begin
    perform '' ~ _try_expression.expression;
exception
    -- The last: its automaton would need more memory than PostgreSQL hands out at once.
    when invalid_regular_expression or internal_error then
        get stacked diagnostics complaint = message_text;
        complaint := regexp_replace(
            regexp_replace(complaint, '^invalid regular expression: ', ''),
            '^invalid memory alloc.*', 'regular expression is too complex'
        );
        raise exception 'The % % cannot be used: %.',
            _try_expression.argument, quote_literal(left(_try_expression.written, 200)), complaint
            using errcode = 'PGR01',
                hint = case
                    when complaint ~ 'repetition|too complex' then
                        'Repetitions go up to {255}, and nested ones multiply.'
                    when complaint ~ 'escape' then
                        'A backslash before a letter has a meaning; write \\ for a backslash.'
                    when complaint ~ 'brackets' then 'Write \[ for a bracket.'
                    when complaint ~ 'parentheses' then 'Write \( for a parenthesis.'
                    else 'To look for the text as it is, use mode => ''literal''.'
                end;
end;
$$;
