-- The only compiler from filters to SQL. Every value becomes a literal by format(%L) and every
-- column comes from a fixed list: no input is ever concatenated.
create or replace function pgrag.filter_predicate(
    filters jsonb
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    if filters is null then
        return 'true';
    end if;
    if length(filters::text) > 20000 then
        raise exception 'The filters are longer than 20,000 characters.' using errcode = 'PGR06';
    end if;
    return _pgrag.compile_filter(filters, 0);
end;
$$;

comment on function pgrag.filter_predicate is
'Compiles a filter into an SQL condition over the aliases p (pgrag.pages) and d (pgrag.documents).
An object is a conjunction: {"type": "guide", "tags": ["a", "b"], "created": {">=": "2024-12-01"},
"front_matter.status": "draft", "or": [{…}, {…}], "not": {…}}. A value means equal, without regard
to case except in key, url and link; a list any of its values, an object operators: =, !=, <, <=, >,
>=, in, all, like, exists. Page fields: key, url, page (key or url, * matches anything; or title or
alias), title, topic, type, language, uuid, link, tags (a includes a/b), path (titles, or a folder:
"a/b" anywhere, "/a/b" from the root; of several "/…" any),
created (also date), modified (2024, 2024-12 and 2024-12-01 mean all of it), links (to a note, by
any of its names; to a note that does not exist yet, by its name in the links), front_matter.NAME;
passage fields: heading, root_section, section_path (a list or "A > B"), depth, depth_min,
depth_max, heading_level, level, types, content_tags, keywords (in lower case), position. Search
functions also read library (a name or a list) and version (a label, a range or "*") at the top
level of their filters, if the arguments of these names are null. Errors: PGR06, naming the field.';

create or replace function _pgrag.compile_filter(
    filter jsonb,
    nesting integer
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    parts text[] := '{}';
    item record;
    expression text;
    kind text;
    known text[];
begin
    if jsonb_typeof(filter) <> 'object' then
        raise exception 'A filter must be an object, got %.', filter
            using errcode = 'PGR06', hint = 'For example {"type": "guide"}.';
    end if;
    if nesting > 20 then
        raise exception 'The filters are nested deeper than 20.' using errcode = 'PGR06';
    end if;
    for item in select e.key, e.value from jsonb_each(filter) as e loop
        if item.key in ('and', 'or')
            and (jsonb_typeof(item.value) <> 'array' or item.value = '[]')
        then
            raise exception '"%" needs a list of filters, got %.', item.key, item.value
                using errcode = 'PGR06', hint = format('For example {"%s": [{…}, {…}]}.', item.key);
        elsif item.key in ('and', 'or') then
            parts := parts || (
                select format(
                    '(%s)',
                    string_agg(
                        _pgrag.compile_filter(m.member, nesting + 1), format(' %s ', item.key)
                        order by m.nth
                    )
                )
                from jsonb_array_elements(item.value) with ordinality as m (member, nth)
            );
        elsif item.key = 'not' then
            parts := parts
                || format('(%s) is not true', _pgrag.compile_filter(item.value, nesting + 1));
        elsif item.key = 'front_matter' and jsonb_typeof(item.value) = 'object' then
            parts := parts || _pgrag.compile_filter(
                (
                    select coalesce(jsonb_object_agg('front_matter.' || f.key, f.value), '{}')
                    from jsonb_each(item.value) as f
                ),
                nesting
            );
        else
            select f.expression, f.kind
            into expression, kind
            from _pgrag.query_fields() as f
            where f.name = item.key and f.expression is not null
            union all
            select
                format(
                    '(p.front_matter #> %L)',
                    string_to_array(substr(item.key, length('front_matter.') + 1), '.')
                ),
                'json'
            where item.key like 'front\_matter.%';
            if expression is null then
                known := array(
                    select f.name
                    from _pgrag.query_fields() as f
                    where f.name = f.field and f.kind <> 'scope'
                );
                raise exception 'There is no filter field "%".', item.key
                    using errcode = 'PGR06',
                        hint = _pgrag.near_hint(item.key, known)
                            || format(
                                'Use %s, or front_matter.%s.',
                                array_to_string(known, ', '), item.key
                            );
            elsif item.value = '{}' then
                raise exception 'The filter field "%" has no condition.', item.key
                    using errcode = 'PGR06';
            end if;
            parts := parts || array(
                select _pgrag.compile_operator(item.key, kind, expression, o.key, o.value)
                from jsonb_each(
                    -- A value, a list, or an object of operators.
                    case jsonb_typeof(item.value)
                        when 'object' then item.value
                        when 'array' then jsonb_build_object(
                            case
                                when item.key not in ('section_path', 'path')
                                    or item.key = 'path' and _pgrag.are_folders(item.value)
                                then 'in'
                                else '='
                            end,
                            item.value
                        )
                        else jsonb_build_object('=', item.value)
                    end
                ) as o
            );
        end if;
    end loop;
    return case
        when cardinality(parts) = 0 then 'true'
        else '(' || array_to_string(parts, ' and ') || ')'
    end;
end;
$$;

-- Whether a list names folders from the root, and not the titles of one path.
create or replace function _pgrag.are_folders(
    members jsonb
)
returns boolean
language sql
immutable
parallel safe
as $$
    select coalesce(bool_and(m.member like '/%'), false)
    from jsonb_array_elements_text(are_folders.members) as m (member);
$$;
