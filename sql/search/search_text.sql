-- The lines of the sources that match a pattern, as ripgrep lists them. A condition on whole pages
-- can use an index; the pages that pass are split into lines.
create or replace function pgrag.search_text(
    pattern text,
    library text,
    top_k integer default 100,
    version text default null,
    mode text default 'literal',
    case_mode text default 'sensitive',
    context integer default 0,
    path text default null,
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
-- Validating the pattern needs a subtransaction.
parallel unsafe
rows 100
set search_path from current
-- The planner must know the pattern to use the trigram index.
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
    owner_id bigint := _pgrag.library_id(library);
    wanted_version bigint := (pgrag.resolve_version(library, version)).version_id;
    deadline timestamptz;
    keys text := _pgrag.glob_expression(search_text.path);
    expression text;
    page_expression text;
    start text[] := regexp_match(search_text.after, '^(.*):(\d{1,9})$');
begin
    perform _pgrag.check_range('context', search_text.context, 0, 100);
    perform _pgrag.check_range('top_k', search_text.top_k, 0, 100000);
    perform _pgrag.check_range('timeout_ms', search_text.timeout_ms, 1, 3600000);
    if search_text.after is not null and start is null then
        raise exception 'after must be the cursor of a row, got %.',
            quote_literal(left(search_text.after, 200))
            using errcode = 'PGR07', hint = 'Leave it out to begin with the first line.';
    end if;
    expression := _pgrag.line_expression(
        search_text.pattern, search_text.mode, search_text.case_mode
    );
    -- Lookaround, \A and \Z may match a line but not its page: no condition on pages then.
    if expression !~ '\\[AZ]|\(\?<?[=!]' or search_text.mode = 'word' then
        page_expression := expression;
    end if;
    perform _pgrag.try_expression(expression, search_text.pattern, 'pattern');
    perform _pgrag.try_expression(keys, search_text.path, 'path');
    deadline := clock_timestamp() + search_text.timeout_ms * interval '1 ms';

    return query
    select
        f.page_id, f.key, f.title, f.line,
        (m.ranges -> 0 ->> 'start')::integer,
        f.content, m.ranges, f.lines_before, f.lines_after,
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
        cross join lateral _pgrag.matching_lines(
            p.head || p.body,
            expression,
            case when p.key = start[1] then start[2]::integer else 0 end,
            search_text.top_k,
            search_text.context
        ) as l
        where p.library_id = owner_id
            and p.version_id = wanted_version
            and (start is null or p.key >= start[1])
            and (keys is null or p.key ~ keys)
            and _pgrag.in_time(p.page_id, deadline, search_text.timeout_ms)
            and (page_expression is null or (p.head || p.body) ~ page_expression)
        order by p.key, l.line
        limit search_text.top_k
    ) as f
    -- The first 100 matches in a line, in one pass: each match is put between two markers, and the
    -- positions of the markers are counted, from 1 and with exclusive ends.
    cross join lateral (
        select jsonb_agg(
            jsonb_build_object('start', m.begins, 'end', m.begins + m.length) order by m.number
        ) as ranges
        from (
            select
                piece.number,
                -- The text before the match: all earlier pieces without their markers.
                1 + sum(length(piece.content) - (piece.number > 1)::integer)
                    over (order by piece.number)
                    - (length(piece.content) - 1) as begins,
                strpos(piece.content, chr(2)) - 1 as length
            from string_to_table(
                regexp_replace(
                    translate(f.content, chr(1) || chr(2), '  '),
                    expression, chr(1) || '\&' || chr(2), 'g'
                ),
                chr(1)
            ) with ordinality as piece (content, number)
        ) as m
        where m.number between 2 and 101
    ) as m
    order by f.key, f.line;
end;
$$;

comment on function pgrag.search_text is
'The lines of the sources (front matter and body, as written) of one version of a library (see
resolve_version) that match a pattern, by key and line, without line ends. mode: literal; word
(literal, but not within a word); regex (a regular expression of PostgreSQL; \b, \B, \< and \> are
word boundaries, as in ripgrep). case_mode: sensitive, ignore, or smart (ignore unless the pattern
has a capital letter). context: the number of lines before and after, 0 to 100. path: a glob over
the keys, as for pgrag index (docs/*.md, guide/, **/a.md). after: the cursor of the last row of the
previous call. line counts from 1 in the file; column and matches (start and end, the end exclusive,
at most 100 per line) count characters from 1; document_id is the passage that contains the line.
timeout_ms: the time limit in milliseconds, checked between pages. Errors: PGR01 (also for a bad
pattern or path), PGR02, PGR03, PGR07, PGR15 (timeout).';

-- Called for matching pages only: splitting a page costs more than matching it.
create or replace function _pgrag.matching_lines(
    source text,
    expression text,
    after_line integer,
    top_k integer,
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
        -- The empty text after the last line end is not a line.
        select split.lines[:cardinality(split.lines)
            - (right(matching_lines.source, 1) in ('', E'\n'))::integer] as lines
        from string_to_array(matching_lines.source, E'\n') as split (lines)
    )
    select
        m.line::integer,
        m.content,
        s.lines[greatest(1, m.line - matching_lines.context):m.line - 1],
        s.lines[m.line + 1:m.line + matching_lines.context]
    from source_lines as s
    cross join lateral (
        select l.line, l.content
        from unnest(s.lines) with ordinality as l (content, line)
        where l.line > matching_lines.after_line and l.content ~ matching_lines.expression
        order by l.line
        limit matching_lines.top_k
    ) as m
    order by m.line;
$$;

-- True until the deadline, then an error. page_id makes the planner check each row.
create or replace function _pgrag.in_time(
    page_id bigint,
    deadline timestamptz,
    timeout_ms integer
)
returns boolean
language plpgsql
stable
parallel safe
-- Cheaper than any other condition, so that the planner evaluates it first.
cost 0.01
as $$
begin
    if clock_timestamp() > in_time.deadline then
        raise exception 'The search took more than % ms.', in_time.timeout_ms
            using errcode = 'PGR15',
                hint = 'Name a path, write a simpler or longer pattern, raise timeout_ms, or'
                    ' make the index of pgrag.index_sources.';
    end if;
    return true;
end;
$$;

create or replace function _pgrag.try_expression(
    expression text,
    written text,
    argument text
)
returns void
language plpgsql
stable
as $$
declare
    complaint text;
begin
    perform '' ~ try_expression.expression;
exception
    -- internal_error: the automaton would exceed the largest allocation of PostgreSQL.
    when invalid_regular_expression or internal_error then
        get stacked diagnostics complaint = message_text;
        complaint := regexp_replace(
            regexp_replace(complaint, '^invalid regular expression: ', ''),
            '^invalid memory alloc.*', 'regular expression is too complex'
        );
        raise exception 'The % % cannot be used: %.',
            try_expression.argument, quote_literal(left(try_expression.written, 200)), complaint
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
