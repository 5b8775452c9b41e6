-- Compiles "field OPERATOR operand" by the kind of the field.
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
    is_day boolean := literal ~ '^\d{4}-\d{2}-\d{2}$';
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
    -- {"a":{"b": for front_matter.a.b.
    opening text;
    closing text;
    code text;
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
    elsif kind = 'time'
        and (literal !~ '^\d{4}-\d{2}-\d{2}' or not pg_input_is_valid(literal, 'timestamptz'))
    then
        raise exception 'The filter field "%" needs a date, got %.', field, quote_literal(literal)
            using errcode = 'PGR06', hint = 'Write 2024-12-01 or 2024-12-01T08:30:00Z.';
    end if;

    case
        when kind = 'list' then
            return format(
                '%s %s %L::text[]', expression, case operator when 'all' then '@>' else '&&' end,
                words
            );
        when kind = 'path' then
            -- Matches consecutive names anywhere in the path.
            return format(
                'position(%L in chr(31) || array_to_string(%s, chr(31)) || chr(31)) > 0',
                chr(31) || array_to_string(words, chr(31)) || chr(31), expression
            );
        when kind = 'page' then
            return format(
                '(p.key like %1$L or p.url like %1$L)',
                replace(regexp_replace(literal, '([\\%_])', '\\\1', 'g'), '*', '%')
            );
        when kind = 'links' then
            literal := _pgrag.link_name(
                regexp_replace(btrim(literal, E' \t\n[]'), '(.)[#|].*$', '\1')
            );
            if literal !~ '\w' then
                raise exception 'The filter field "links" needs the name of a note, got %.',
                    quote_literal(operand #>> '{}')
                    using errcode = 'PGR06', hint = 'For example {"links": "Getting started"}.';
            end if;
            -- Uncorrelated, so that it runs once per query and not once per page.
            return format(
                '((p.library_id, p.page_id) in '
                '(select l.library_id, l.page_id from _pgrag.linking_pages(%L) as l))',
                literal
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
        when kind in ('number', 'bound') then
            return format(
                '%s %s %L::numeric', expression,
                case field when 'depth_min' then '>=' when 'depth_max' then '<=' else operator end,
                literal::numeric
            );
        -- A date without a time means the whole day.
        when kind = 'time' and is_day and operator = '=' then
            return format(
                '(%1$s >= %2$L::timestamptz and %1$s < %2$L::timestamptz + interval ''1 day'')',
                expression, literal
            );
        when kind = 'time' and is_day and operator in ('<=', '>') then
            return format(
                '%s %s %L::timestamptz + interval ''1 day''',
                expression, case operator when '<=' then '<' else '>=' end, literal
            );
        when kind = 'time' then
            return format('%s %s %L::timestamptz', expression, operator, literal);
        -- Front matter is compared by type: numbers as numbers, text as text (as ISO dates sort), a
        -- list by its members. Equality is containment in all of it, as the GIN index needs.
        when kind = 'json' and operator in ('=', 'all') then
            select string_agg(format('{%s:', to_jsonb(n)), ''), repeat('}', count(*)::integer)
            into opening, closing
            from string_to_table(substr(field, length('front_matter.') + 1), '.') as n;
            return coalesce(
                (
                    select '(' || string_agg(
                        format(
                            '(p.front_matter @> %L::jsonb or p.front_matter @> %L::jsonb)',
                            concat(opening, member, closing)::jsonb,
                            concat(opening, jsonb_build_array(member), closing)::jsonb
                        ),
                        ' and '
                    ) || ')'
                    from jsonb_array_elements(members) as member
                ),
                'false'
            );
        when kind = 'json' and jsonb_typeof(operand) = 'number' and operator <> 'like' then
            return format(
                'case when jsonb_typeof(%1$s) = ''number'''
                ' then (%1$s)::numeric %2$s %3$L::numeric end', expression, operator, operand
            );
        when kind = 'json' then
            return format('(%s #>> ''{}'') collate "C" %s %L', expression, operator, literal);
        else
            return format('%s %s %L', expression, operator, literal);
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
