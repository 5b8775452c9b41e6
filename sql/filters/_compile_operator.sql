-- Compiles "field OPERATOR operand" by the kind of the field. Names and values are compared without
-- regard to case, except addresses.
create or replace function _pgrag.compile_operator(
    field text,
    kind text,
    expression text,
    operator text,
    operand jsonb
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    literal text := operand #>> '{}';
    is_null boolean := jsonb_typeof(operand) = 'null';
    is_address boolean := field in ('key', 'url', 'link');
    -- The first moment of a date, and the first after it.
    bounds text[];
    operators text[] := case
        when kind in ('page', 'links', 'language') then '{=,!=,in}'
        when kind = 'list' then '{=,!=,in,all,exists}'
        when kind = 'path' then '{=,!=,in,exists}'
        when kind = 'bound' then '{=}'
        when kind in ('number', 'time') then '{=,!=,<,<=,>,>=,in,exists}'
        when kind = 'text' then '{=,!=,<,<=,>,>=,in,like,exists}'
        else '{=,!=,<,<=,>,>=,in,all,like,exists}'
    end;
    is_list boolean := jsonb_typeof(operand) = 'array';
    members jsonb := case when is_list then operand else jsonb_build_array(operand) end;
    words text[] := case
        when kind = 'path' and not is_list
        then regexp_split_to_array(literal, '\s*>\s*')
        else array(select w from jsonb_array_elements_text(members) as w)
    end;
begin
    if operator <> all (operators) then
        raise exception 'The filter field "%" has no operator "%".', field, operator
            using errcode = 'PGR06',
                hint = format('Use %s.', array_to_string(operators, ', '));
    end if;
    if jsonb_typeof(operand) = 'object'
        or (is_null and operator not in ('=', '!='))
        or (operator = 'like' and literal ~ '(^|[^\\])(\\\\)*\\$')
    then
        raise exception 'The filter field "%" cannot be compared with %.', field, operand
            using errcode = 'PGR06';
    end if;
    if operator = 'exists' or is_null and operator = '=' then
        return format(
            '(%s) is %s',
            case kind when 'list' then format('nullif(%s, ''{}'')', expression) else expression end,
            case when operand in ('false', 'null') then 'null' else 'not null' end
        );
    elsif operator = '!=' then
        return format(
            '(%s) is not true', _pgrag.compile_operator(field, kind, expression, '=', operand)
        );
    elsif expression = 'd.root_section' and operator in ('=', 'like') then
        -- Where the first heading is the page's title, the sections right below are roots, too.
        return format(
            '(%s or d.depth > 1 and d.root_section = p.title and %s)',
            _pgrag.compile_operator(field, kind, '(d.root_section)', operator, operand),
            _pgrag.compile_operator(
                field, kind, '(d.path[cardinality(d.path) - d.depth + 2])', operator, operand
            )
        );
    elsif operator = 'in' and kind <> 'list' then
        return coalesce(
            (
                select '(' || string_agg(
                    _pgrag.compile_operator(field, kind, expression, '=', member), ' or '
                ) || ')'
                from jsonb_array_elements(members) as member
            ),
            'false'
        );
    elsif kind in ('number', 'bound') and not pg_input_is_valid(literal, 'numeric') then
        raise exception 'The filter field "%" needs a number, got %.', field, operand
            using errcode = 'PGR06';
    elsif kind = 'time' then
        bounds := _pgrag.time_bounds(literal);
        if bounds is null then
            raise exception 'The filter field "%" needs a date, got %.',
                field, quote_literal(literal)
                using errcode = 'PGR06',
                    hint = 'Write 2024-12-01, 2024-12 or 2024-12-01T08:30:00Z.';
        end if;
    end if;

    case
        when kind = 'list' then
            return _pgrag.list_condition(
                expression, words, operator = 'all', is_nested => field = 'tags'
            );
        when field = 'path' and not is_list and literal like '/%' then
            return format(
                'starts_with(lower(''/'' || p.key), %L)', lower(rtrim(literal, '/') || '/')
            );
        when kind = 'path' then
            -- Matches consecutive names anywhere in the path; for a page also a folder.
            return format(
                case
                    when field = 'path' and not is_list
                    then '(position(%1$L in lower(chr(31) || array_to_string(%2$s, chr(31)) '
                        '|| chr(31))) > 0 or position(%3$L in lower(''/'' || p.key)) > 0)'
                    else 'position(%1$L in lower(chr(31) || array_to_string(%2$s, chr(31)) '
                        '|| chr(31))) > 0'
                end,
                chr(31) || lower(array_to_string(words, chr(31))) || chr(31), expression,
                '/' || lower(btrim(literal, '/')) || '/'
            );
        when kind in ('page', 'links', 'language') then
            return _pgrag.reference_condition(field, kind, expression, literal);
        when kind in ('number', 'bound') then
            return format(
                '%s %s %L::numeric', expression,
                case field when 'depth_min' then '>=' when 'depth_max' then '<=' else operator end,
                literal::numeric
            );
        -- A date without a time means all of it.
        when kind = 'time' and bounds[2] is not null and operator = '=' then
            return format(
                '(%1$s >= %2$L::timestamptz and %1$s < %3$L::timestamptz)',
                expression, bounds[1], bounds[2]
            );
        when kind = 'time' and bounds[2] is not null and operator in ('<=', '>') then
            return format(
                '%s %s %L::timestamptz',
                expression, case operator when '<=' then '<' else '>=' end, bounds[2]
            );
        when kind = 'time' then
            return format('%s %s %L::timestamptz', expression, operator, bounds[1]);
        when kind = 'json' then
            return _pgrag.front_matter_condition(field, expression, operator, operand);
        when is_address or operator not in ('=', 'like') then
            return format('%s %s %L', expression, operator, literal);
        when operator = 'like' then
            return format('%s ilike %L', expression, literal);
        else
            return format('lower(%s) = %L', expression, lower(literal));
    end case;
end;
$$;

-- A page by its name, pages with links to a name, or pages in a language.
create or replace function _pgrag.reference_condition(
    field text,
    kind text,
    expression text,
    literal text
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    name text;
    code text;
begin
    case
        when kind = 'page' then
            return format(
                '(p.key ilike %1$L or p.url ilike %1$L or (p.library_id, p.page_id) in '
                '(select n.library_id, n.page_id from _pgrag.note_pages(%2$L) as n))',
                replace(regexp_replace(literal, '([\\%_])', '\\\1', 'g'), '*', '%'),
                _pgrag.link_name(literal)
            );
        when kind = 'links' then
            name := _pgrag.link_name(
                regexp_replace(btrim(literal, E' \t\n[]'), '(.)[#|].*$', '\1')
            );
            if name !~ '\w' then
                raise exception 'The filter field "links" needs the name of a note, got %.',
                    quote_literal(reference_condition.literal)
                    using errcode = 'PGR06', hint = 'For example {"links": "Getting started"}.';
            end if;
            -- Uncorrelated, so that it runs once per query and not once per page.
            return format(
                '((p.library_id, p.page_id) in '
                '(select l.library_id, l.page_id from _pgrag.linking_pages(%L) as l))',
                name
            );
        when kind = 'language' then
            code := _pgrag.language_code(literal);
            if code is null then
                raise exception 'The filter field "%" needs a language, got %.',
                    field, quote_literal(left(literal, 100))
                    using errcode = 'PGR06', hint = _pgrag.language_hint();
            end if;
            -- pt finds pt-BR, and pt-BR finds pages that are pt.
            return format(
                '(%1$s in (%2$L, %3$L) or %1$s like %4$L)',
                expression, code, split_part(code, '-', 1), code || '-%'
            );
    end case;
end;
$$;

create or replace function _pgrag.language_hint()
returns text
language sql
stable
parallel safe
as $$
    select 'Write a code such as de or pt-BR, or a name.'
        || coalesce(' There are pages in ' || string_agg(p.code, ', ' order by p.code) || '.', '')
    from (select distinct p.language_code as code from pgrag.pages as p) as p;
$$;

-- Whether a list has one of the words, or all; a nested tag (a/b) counts as the tags above it (a).
create or replace function _pgrag.list_condition(
    expression text,
    words text[],
    wants_all boolean,
    is_nested boolean
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when cardinality(list_condition.words) = 0 then list_condition.wants_all::text
        else (
            select format(
                '(%s)',
                string_agg(
                    format(
                        'lower(chr(31) || array_to_string(%s, chr(31)) || chr(31)) ~ %L',
                        list_condition.expression,
                        chr(31) || '(' || p.pattern || ')'
                            || case
                                when list_condition.is_nested then '[/' || chr(31) || ']'
                                else chr(31)
                            end
                    ),
                    ' and '
                )
            )
            from (
                select string_agg(
                    _pgrag.escaped(
                        lower(
                            case
                                when list_condition.is_nested
                                then regexp_replace(w.word, '^#(?=.)|(?<=.)/$', '', 'g')
                                else w.word
                            end
                        )
                    ),
                    '|'
                ) as pattern
                from unnest(list_condition.words) with ordinality as w (word, nth)
                group by case when list_condition.wants_all then w.nth end
            ) as p
        )
    end;
$$;

-- The text as a regular expression, also of SQL/JSON.
create or replace function _pgrag.escaped(
    literal text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.regexp_replace(escaped.literal, '[][\\.*+?(){}|^$-]', '\\\&', 'g');
$$;

-- The first moment of a date, and the first after it: of 2024, 2024-12, 2024-12-01 or 1.12.2024. Of
-- a moment there is none after it. Null if it is no date.
create or replace function _pgrag.time_bounds(
    written text
)
returns text[]
language plpgsql
immutable
parallel safe
as $$
declare
    day text[] := regexp_match(written, '^(\d{1,2})\.(\d{1,2})\.(\d{4})$');
    iso text := coalesce(
        day[3] || '-' || lpad(day[2], 2, '0') || '-' || lpad(day[1], 2, '0'), written
    );
    first text := iso || case
        when iso ~ '^\d{4}$' then '-01-01'
        when iso ~ '^\d{4}-\d{2}$' then '-01'
        else ''
    end;
begin
    return case
        when first ~ '^\d{4}-\d{2}-\d{2}$' and pg_input_is_valid(first, 'date')
        then array[
            first,
            to_char(
                first::date + case length(iso)
                    when 4 then interval '1 year'
                    when 7 then interval '1 month'
                    else interval '1 day'
                end,
                'YYYY-MM-DD'
            )
        ]
        when first ~ '^\d{4}-\d{2}-\d{2}' and pg_input_is_valid(first, 'timestamptz')
        then array[first, null]
    end;
end;
$$;
