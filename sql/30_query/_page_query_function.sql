-- The functions of queries over pages: whether this one exists and takes so many values. What they
-- compute is in _page_text_function and _page_list_function.
create or replace function pgrag._page_query_function(
    node jsonb
)
returns void
language plpgsql
stable
parallel unsafe
set search_path from current
as $$
declare
    fewest integer;
    most integer;
    given integer := jsonb_array_length(node -> 'of');
begin
    select f.fewest, f.most
    into fewest, most
    from pgrag._page_query_functions() as f
    where f.name = node ->> 'name';
    if fewest is null then
        perform pgrag._page_query_error(
            (node ->> 'at')::integer,
            format('there is no function %s.', quote_literal(node ->> 'name')),
            (
                select 'There are ' || string_agg(f.name, ', ' order by f.name) || '.'
                from pgrag._page_query_functions() as f
            )
        );
    elsif given < fewest or given > most then
        perform pgrag._page_query_error(
            (node ->> 'at')::integer,
            format(
                '%s takes %s, got %s.',
                node ->> 'name',
                case when fewest = most then fewest::text else format('%s to %s', fewest, most) end
                    || case when most = 1 then ' value' else ' values' end,
                given
            ),
            null
        );
    elsif node ->> 'name' like 'regex%' and node #>> '{of,0,node}' = 'literal'
        and node ->> 'name' <> 'regexreplace'
        and not pgrag._is_pattern(node #>> '{of,0,value}')
    then
        perform pgrag._page_query_error(
            (node #>> '{of,0,at}')::integer, 'this is no regular expression.',
            'It is one of PostgreSQL; a backslash is written once: "\d+".'
        );
    end if;
end;
$$;

create or replace function pgrag._page_query_functions()
returns table (
    name text,
    fewest integer,
    most integer,
    is_of_lists boolean
)
language sql
immutable
parallel safe
as $$
    values
        ('contains', 2, 2, true), ('icontains', 2, 2, true), ('econtains', 2, 2, true),
        ('containsword', 2, 2, false), ('startswith', 2, 2, false), ('endswith', 2, 2, false),
        ('lower', 1, 1, false), ('upper', 1, 1, false), ('replace', 3, 3, false),
        ('regextest', 2, 2, false), ('regexmatch', 2, 2, false), ('regexreplace', 3, 3, false),
        ('substring', 2, 3, false), ('split', 2, 2, false), ('number', 1, 1, false),
        ('string', 1, 1, false), ('date', 1, 1, false), ('dur', 1, 1, false),
        ('striptime', 1, 1, false), ('round', 1, 2, false), ('floor', 1, 1, false),
        ('ceil', 1, 1, false), ('trunc', 1, 1, false),
        ('length', 1, 1, true), ('typeof', 1, 1, true), ('default', 2, 2, true),
        ('choice', 3, 3, true), ('link', 1, 2, true), ('list', 0, 100, true),
        ('array', 0, 100, true), ('join', 1, 2, true), ('min', 1, 100, true),
        ('max', 1, 100, true), ('sum', 1, 100, true), ('average', 1, 100, true),
        ('all', 1, 100, true), ('any', 1, 100, true), ('none', 1, 100, true),
        ('nonnull', 1, 1, true), ('reverse', 1, 1, true), ('sort', 1, 1, true),
        ('unique', 1, 1, true), ('flat', 1, 1, true);
$$;

-- Errors are caught in a subtransaction, which up to PostgreSQL 16 no parallel query may begin.
create or replace function pgrag._is_pattern(
    pattern text
)
returns boolean
language plpgsql
stable
parallel unsafe
set search_path from current
as $$
begin
    perform '' ~ pattern;
    return true;
exception
    -- The last: its automaton would need more memory than PostgreSQL hands out at once.
    when data_exception or program_limit_exceeded or internal_error then
        return false;
end;
$$;

-- A date written as a word.
create or replace function pgrag._date_words()
returns text[]
language sql
immutable
parallel safe
as $$
    select array[
        'today', 'now', 'tomorrow', 'yesterday', 'sow', 'eow', 'som', 'eom', 'soy', 'eoy',
        'start-of-week', 'end-of-week', 'start-of-month', 'end-of-month', 'start-of-year',
        'end-of-year'
    ];
$$;

-- The day, or the moment, that such a word means now, in the time zone of the session.
create or replace function pgrag._date_word(
    word text
)
returns jsonb
language sql
stable
parallel safe
as $$
    select to_jsonb(
        case pg_catalog.regexp_replace(_date_word.word, '^(s|e)[a-z]+-of-(.).*$', '\1o\2')
            when 'now' then pg_catalog.to_char(now, 'YYYY-MM-DD"T"HH24:MI:SS')
            when 'tomorrow' then (now::date + 1)::text
            when 'yesterday' then (now::date - 1)::text
            when 'sow' then date_trunc('week', now)::date::text
            when 'eow' then (date_trunc('week', now)::date + 6)::text
            when 'som' then date_trunc('month', now)::date::text
            when 'eom' then (date_trunc('month', now) + interval '1 month -1 day')::date::text
            when 'soy' then date_trunc('year', now)::date::text
            when 'eoy' then (date_trunc('year', now) + interval '1 year -1 day')::date::text
            else now::date::text
        end
    )
    from (select localtimestamp as now) as t;
$$;
