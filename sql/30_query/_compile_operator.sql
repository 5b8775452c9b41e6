-- field OPERATOR operand, by the kind of the field.
create or replace function pgrag._compile_operator(
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
set search_path from current
as $$
declare
    literal text := operand #>> '{}';
    operators text[] := case kind
        when 'list' then '{=,!=,in,all,exists}'
        when 'path' then '{=,!=,in,exists}'
        when 'page' then '{=,!=,in}'
        when 'links' then '{=,!=,in}'
        when 'language' then '{=,!=,in}'
        when 'minimum' then '{=}'
        when 'maximum' then '{=}'
        when 'number' then '{=,!=,<,<=,>,>=,in,exists}'
        when 'time' then '{=,!=,<,<=,>,>=,in,exists}'
        when 'text' then '{=,!=,<,<=,>,>=,in,like,exists}'
        else '{=,!=,<,<=,>,>=,in,all,like,exists}'
    end;
    words text[] := case
        when jsonb_typeof(operand) = 'array'
        then array(select w from jsonb_array_elements_text(operand) as w)
        when kind = 'path' then regexp_split_to_array(operand #>> '{}', '\s*>\s*')
        else array[operand #>> '{}']
    end;
begin
    if operator <> all (operators) then
        raise exception 'The filter field "%" has no operator "%".', field, operator
            using errcode = 'PGR06',
                hint = format('Use %s.', array_to_string(operators, ', '));
    end if;
    if jsonb_typeof(operand) = 'object'
        or (jsonb_typeof(operand) = 'null' and operator not in ('=', '!='))
        or (operator = 'like' and literal ~ '(^|[^\\])(\\\\)*\\$')
    then
        raise exception 'The filter field "%" cannot be compared with %.', field, operand
            using errcode = 'PGR06';
    end if;
    if operator = 'exists' or jsonb_typeof(operand) = 'null' and operator = '=' then
        return format(
            '(%s) is %s',
            case
                when kind = 'list' then format('nullif(%s, ''{}'')', expression)
                else expression
            end,
            case when operand in ('false', 'null') then 'null' else 'not null' end
        );
    elsif operator = '!=' then
        return format(
            '(%s) is not true', pgrag._compile_operator(field, kind, expression, '=', operand)
        );
    elsif operator = 'in' and kind <> 'list' then
        return coalesce(
            (
                select '(' || string_agg(
                    pgrag._compile_operator(field, kind, expression, '=', member), ' or '
                ) || ')'
                from jsonb_array_elements(
                    case
                        when jsonb_typeof(operand) = 'array' then operand
                        else jsonb_build_array(operand)
                    end
                ) as member
            ),
            'false'
        );
    elsif kind = 'json' then
        return pgrag._compile_json(field, expression, operator, operand);
    end if;

    case kind
        when 'list' then
            return format(
                '%s %s %L::text[]', expression, case when operator = 'all' then '@>' else '&&' end,
                words
            );
        when 'path' then
            -- The names one below the other, anywhere in the path.
            return format(
                'position(%L in chr(31) || array_to_string(%s, chr(31)) || chr(31)) > 0',
                chr(31) || array_to_string(words, chr(31)) || chr(31), expression
            );
        when 'page' then
            return format(
                '(p.key like %1$L or p.url like %1$L)',
                replace(
                    replace(replace(replace(literal, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%'
                )
            );
        when 'links' then
            return pgrag._compile_links(literal);
        when 'language' then
            return format('%s = %L', expression, pgrag.text_search_configuration(literal));
        when 'minimum' then
            return format('%s >= %L::numeric', expression, pgrag._filter_number(field, operand));
        when 'maximum' then
            return format('%s <= %L::numeric', expression, pgrag._filter_number(field, operand));
        when 'number' then
            return format(
                '%s %s %L::numeric', expression, operator, pgrag._filter_number(field, operand)
            );
        when 'time' then
            return pgrag._compile_time(field, expression, operator, literal);
        else
            return format('%s %s %L', expression, operator, literal);
    end case;
end;
$$;

create or replace function pgrag._filter_number(
    field text,
    operand jsonb
)
returns numeric
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    if not pg_input_is_valid(operand #>> '{}', 'numeric') then
        raise exception 'The filter field "%" needs a number, got %.', field, operand
            using errcode = 'PGR06';
    end if;
    return (operand #>> '{}')::numeric;
end;
$$;

-- A bare day, as "=" or "<=", means the whole of it.
create or replace function pgrag._compile_time(
    field text,
    expression text,
    operator text,
    literal text
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    is_day boolean := literal ~ '^\d{4}-\d{2}-\d{2}$';
begin
    if literal !~ '^\d{4}-\d{2}-\d{2}' or not pg_input_is_valid(literal, 'timestamptz') then
        raise exception 'The filter field "%" needs a date, got %.', field, quote_literal(literal)
            using errcode = 'PGR06', hint = 'Write 2024-12-01 or 2024-12-01T08:30:00Z.';
    end if;
    return case
        when is_day and operator = '='
        then format(
            '(%1$s >= %2$L::timestamptz and %1$s < %2$L::timestamptz + interval ''1 day'')',
            expression, literal
        )
        when is_day and operator in ('<=', '>')
        then format(
            '%s %s %L::timestamptz + interval ''1 day''',
            expression, case operator when '<=' then '<' else '>=' end, literal
        )
        else format('%s %s %L::timestamptz', expression, operator, literal)
    end;
end;
$$;

-- A front matter value is compared as what it is: numbers as numbers, text as text (ISO dates sort
-- as text), a list by its members. Equality is written as containment in the whole front matter,
-- which is what the index answers.
create or replace function pgrag._compile_json(
    field text,
    expression text,
    operator text,
    operand jsonb
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    names text[] := string_to_array(substr(field, length('front_matter.') + 1), '.');
begin
    if operator in ('=', 'all') then
        return coalesce(
            (
                select '(' || string_agg(
                    format(
                        '(p.front_matter @> %L::jsonb or p.front_matter @> %L::jsonb)',
                        pgrag._nested(names, member),
                        pgrag._nested(names, jsonb_build_array(member))
                    ),
                    ' and '
                ) || ')'
                from jsonb_array_elements(
                    case when jsonb_typeof(operand) = 'array' then operand
                    else jsonb_build_array(operand) end
                ) as member
            ),
            'false'
        );
    elsif operator = 'like' then
        return format('(%s #>> ''{}'') like %L', expression, operand #>> '{}');
    elsif jsonb_typeof(operand) = 'number' then
        return format(
            'case when jsonb_typeof(%1$s) = ''number'' then (%1$s)::numeric %2$s %3$L::numeric end',
            expression, operator, operand
        );
    else
        return format(
            '(%s #>> ''{}'') collate "C" %s %L', expression, operator, operand #>> '{}'
        );
    end if;
end;
$$;

-- {"a": {"b": value}} for the names a, b.
create or replace function pgrag._nested(
    names text[],
    value jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    nested jsonb := value;
begin
    for place in reverse cardinality(names)..1 loop
        nested := jsonb_build_object(names[place], nested);
    end loop;
    return nested;
end;
$$;
