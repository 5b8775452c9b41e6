-- An expression of a query over pages as SQL that is true or false, and as SQL that is a value
-- (jsonb). Names, texts and numbers become literals by %L; nothing that a query says becomes SQL.
-- The row is r: fields (the properties), file_name, file_path … (what scope says there is).
create or replace function pgrag._page_query_condition(
    node jsonb,
    scope jsonb
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    kind text := node ->> 'node';
    operator text := node ->> 'operator';
    operands jsonb := node -> 'of';
    sides text[];
begin
    if kind in ('and', 'or') then
        return (
            select '('
                || string_agg(
                    pgrag._page_query_condition(o.operand, scope),
                    case kind when 'and' then ' and ' else ' or ' end order by o.place
                )
                || ')'
            from jsonb_array_elements(operands) with ordinality as o (operand, place)
        );
    elsif kind = 'not' then
        return format('(not %s)', pgrag._page_query_condition(operands -> 0, scope));
    elsif kind = 'group' then
        return pgrag._page_query_condition(operands -> 0, scope);
    elsif kind = 'call' and node ->> 'name' in ('contains', 'icontains', 'econtains') then
        return format(
            'pgrag._page_value_contains(%s, %s, %L::boolean)',
            pgrag._page_query_value(operands -> 0, scope),
            pgrag._page_query_value(operands -> 1, scope),
            node ->> 'name' = 'icontains'
        );
    elsif kind <> 'operator' or operator in ('+', '-', '*', '/', '%') then
        return format(
            'pgrag._is_page_value_true(%s)', pgrag._page_query_value(node, scope)
        );
    end if;

    sides := array[
        pgrag._page_query_value(operands -> 0, scope),
        pgrag._page_query_value(operands -> 1, scope)
    ];
    if operator not in ('=', '!=') then
        return format('(pgrag._compare_page_values(%s, %s) %s 0)', sides[1], sides[2], operator);
    elsif operands -> 0 ->> 'node' = 'literal' then
        -- The literal, where there is one, on the right.
        sides := array[sides[2], sides[1]];
        operands := jsonb_build_array(operands -> 1, operands -> 0);
    end if;
    return format(
        case
            when operands -> 1 ->> 'node' <> 'literal'
                or pgrag._page_value_type(operands -> 1 -> 'value') in ('date', 'duration', 'link')
            then '(pgrag._same_page_value(%s, %s) = %L::boolean)'
            -- What is equal to a plain value is the same jsonb.
            else '((coalesce(%s, ''null'') = %s) = %L::boolean)'
        end,
        sides[1], sides[2], operator = '='
    );
end;
$$;

create or replace function pgrag._page_query_value(
    node jsonb,
    scope jsonb
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    kind text := node ->> 'node';
    name text := node ->> 'name';
    first jsonb := node -> 'of' -> 0;
    key jsonb;
begin
    if kind = 'literal' then
        return format('%L::jsonb', node -> 'value');
    elsif kind = 'day' then
        return format('%L::jsonb', pgrag._date_word(name));
    elsif kind = 'group' then
        return pgrag._page_query_value(first, scope);
    elsif kind = 'name' then
        return pgrag._page_query_name(node, scope);
    elsif kind = 'index' then
        key := node -> 'of' -> 1;
        if first ->> 'node' = 'name' and first ->> 'name' = 'row'
            and key ->> 'node' = 'literal'
        then
            return format('nullif(r.fields -> %L, ''null'')', key ->> 'value');
        elsif key ->> 'node' = 'literal' then
            return pgrag._page_query_value(
                node || jsonb_build_object('node', 'member', 'name', key ->> 'value'), scope
            );
        end if;
        return format(
            'pgrag._page_value_member(%s, (%s) #>> ''{}'')',
            pgrag._page_query_value(first, scope), pgrag._page_query_value(key, scope)
        );
    elsif kind = 'member' then
        if first ->> 'node' = 'name' and first ->> 'name' = 'file' then
            return pgrag._page_query_file_member(node, scope);
        elsif first ->> 'node' = 'literal' and first ->> 'value' like '[[%' then
            perform pgrag._page_query_error(
                (node ->> 'at')::integer, 'the properties of another page cannot be read.',
                'Ask for that page: FROM "folder/note".'
            );
        end if;
        return format(
            'pgrag._page_value_member(%s, %L)', pgrag._page_query_value(first, scope), name
        );
    elsif kind = 'list' then
        return format(
            'pgrag._bounded_page_value(to_jsonb(%s))', pgrag._page_query_values(node, scope)
        );
    elsif kind = 'minus' then
        return format(
            'pgrag._page_value_operation(''-'', ''0'', %s)', pgrag._page_query_value(first, scope)
        );
    elsif kind = 'call' and name not in ('contains', 'icontains', 'econtains') then
        return format(
            case
                when (
                    select f.is_of_lists
                    from pgrag._page_query_functions() as f
                    where f.name = node ->> 'name'
                )
                then 'pgrag._page_list_function(%L, %s)'
                else 'pgrag._page_text_function(%L, %s)'
            end,
            name, pgrag._page_query_values(node, scope)
        );
    elsif kind = 'operator' and node ->> 'operator' in ('+', '-', '*', '/', '%') then
        return format(
            'pgrag._page_value_operation(%L, %s, %s)',
            node ->> 'operator',
            pgrag._page_query_value(first, scope),
            pgrag._page_query_value(node -> 'of' -> 1, scope)
        );
    end if;
    return format('to_jsonb(%s)', pgrag._page_query_condition(node, scope));
end;
$$;

create or replace function pgrag._page_query_values(
    node jsonb,
    scope jsonb
)
returns text
language sql
stable
parallel safe
set search_path from current
as $$
    select 'array['
        || coalesce(
            string_agg(
                pgrag._page_query_value(o.operand, _page_query_values.scope), ', ' order by o.place
            ),
            ''
        )
        || ']::jsonb[]'
    from jsonb_array_elements(_page_query_values.node -> 'of') with ordinality
        as o (operand, place);
$$;

-- A property by its name, or by one whose simple form it is: due-on for "Due on".
create or replace function pgrag._page_query_name(
    node jsonb,
    scope jsonb
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    name text := node ->> 'name';
    others text;
begin
    if name = 'file' then
        perform pgrag._page_query_error(
            (node ->> 'at')::integer, 'file has no value of its own.',
            format('Write one of %s.', pgrag._page_query_file_names())
        );
    elsif name = 'this' then
        perform pgrag._page_query_error(
            (node ->> 'at')::integer, 'a query stands on no page that it could call this.', null
        );
    elsif name = 'row' then
        return 'r.fields';
    elsif name = 'tags' and scope ->> 'row' = 'page' and not scope -> 'flattened' ? 'tags' then
        -- All tags of the page, those of its text as well, however they are written.
        return 'r.file_plain_tags';
    end if;
    select string_agg(format(', r.fields -> %L', k), '' order by k)
    into others
    from jsonb_array_elements_text(scope -> 'keys' -> pgrag._property_name(name)) as k
    where k <> name;
    return format(
        case
            when others is null then 'nullif(r.fields -> %L, ''null'')'
            else 'nullif(coalesce(r.fields -> %L%s), ''null'')'
        end,
        name, others
    );
end;
$$;

create or replace function pgrag._page_query_file_member(
    node jsonb,
    scope jsonb
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    if not exists (
        select from pgrag._page_query_file() as f where f.name = lower(node ->> 'name')
    ) then
        perform pgrag._page_query_error(
            (node ->> 'at')::integer,
            format('there is no file.%s.', left(node ->> 'name', 60)),
            format('Write one of %s.', pgrag._page_query_file_names())
        );
    end if;
    -- A group is no page.
    return case
        when scope ->> 'row' = 'group' then 'null::jsonb'
        else format('r.%I', 'file_' || lower(node ->> 'name'))
    end;
end;
$$;

create or replace function pgrag._page_query_file_names()
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.string_agg('file.' || f.name, ', ' order by f.name)
    from pgrag._page_query_file() as f;
$$;

-- What is known of each page beside its properties, as SQL over p.
create or replace function pgrag._page_query_file()
returns table (
    name text,
    expression text
)
language sql
immutable
parallel safe
as $$
    values
        ('name', 'to_jsonb(regexp_replace(p.key, ''^.*/|\.[^./]*$'', '''', ''g''))'),
        ('path', 'to_jsonb(p.key)'),
        ('folder', 'to_jsonb(coalesce(substring(p.key from ''^(.*)/[^/]*$''), ''''))'),
        ('ext', 'to_jsonb(substring(p.key from ''\.([^./]*)$''))'),
        ('link', 'pgrag._page_link(p.key)'),
        ('title', 'to_jsonb(p.title)'),
        ('url', 'to_jsonb(p.url)'),
        ('type', 'to_jsonb(p.type)'),
        ('language', 'to_jsonb(p.language)'),
        ('plain_tags', 'to_jsonb(nullif(p.tags, ''{}''))'),
        ('tags', 'pgrag._page_tags(p.tags, true)'),
        ('etags', 'pgrag._page_tags(p.tags, false)'),
        ('aliases', 'to_jsonb(p.aliases)'),
        ('ctime', 'pgrag._moment_text(p.created at time zone ''UTC'')'),
        ('mtime', 'pgrag._moment_text(p.modified at time zone ''UTC'')'),
        ('cday', 'to_jsonb((p.created at time zone ''UTC'')::date)'),
        ('mday', 'to_jsonb((p.modified at time zone ''UTC'')::date)'),
        ('day', 'pgrag._page_text_function(''date'', array[to_jsonb(substring(p.key from '
            || '''\d{4}-\d\d-\d\d(?=[^/]*$)''))])'),
        ('size', 'to_jsonb(octet_length(p.head) + octet_length(p.body))'),
        ('inlinks', 'pgrag._page_links(p.library_id, p.page_id, false)'),
        ('outlinks', 'pgrag._page_links(p.library_id, p.page_id, true)'),
        ('tasks', 'pgrag._page_tasks(p.key, p.head, p.body)'),
        ('frontmatter', 'p.front_matter');
$$;
