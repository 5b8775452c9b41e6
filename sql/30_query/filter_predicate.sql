-- Filters are data; this is the one compiler from them to SQL. Every value goes in as a literal
-- made by format(%L), every column is picked from the list below: nothing is ever concatenated.
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
    return pgrag._compile_filter(filters, 0);
end;
$$;

comment on function pgrag.filter_predicate(jsonb) is
'The SQL condition of a filter over the aliases p (pgrag.pages) and d (pgrag.documents). An object
is a conjunction: {"type": "guide", "tags": ["a", "b"], "created": {">=": "2024-12-01"},
"front_matter.status": "draft", "or": [{…}, {…}], "not": {…}}. A value means equal, a list any of
it, an object operators: =, !=, <, <=, >, >=, in, all, like, exists. Page fields: key, url, page
(key or url, * matches anything), title, topic, type, language, uuid, link, tags, path, created
(also date), modified, links (to a note, by any of its names; to one that does not exist yet, by
the name that links give it), front_matter.NAME; document fields: heading, root_section,
section_path (a list or "A > B"), depth, depth_min, depth_max, heading_level, level, types,
content_tags, keywords (in lower case), position.
The functions that search also read library (a name or a list) and version (a wish or "*") at the
top of their filters, where the arguments of these names are null. Errors: PGR06, naming the
field.';

create or replace function pgrag._compile_filter(
    filter jsonb,
    nesting integer
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    parts text[] := '{}';
    item record;
begin
    if jsonb_typeof(filter) <> 'object' then
        raise exception 'A filter must be an object, got %.', filter
            using errcode = 'PGR06', hint = 'For example {"type": "guide"}.';
    end if;
    if nesting > 20 then
        raise exception 'The filters are nested deeper than 20.' using errcode = 'PGR06';
    end if;
    for item in select e.key, e.value from jsonb_each(filter) as e loop
        parts := parts || case
            when item.key in ('and', 'or') then pgrag._compile_group(item.key, item.value, nesting)
            when item.key = 'not'
            then format('(%s) is not true', pgrag._compile_filter(item.value, nesting + 1))
            when item.key = 'front_matter' and jsonb_typeof(item.value) = 'object'
            then (
                select coalesce(
                    string_agg(
                        pgrag._compile_field('front_matter.' || f.key, f.value), ' and '
                    ),
                    'true'
                )
                from jsonb_each(item.value) as f
            )
            else pgrag._compile_field(item.key, item.value)
        end;
    end loop;
    return case
        when cardinality(parts) = 0 then 'true'
        else '(' || array_to_string(parts, ' and ') || ')'
    end;
end;
$$;

create or replace function pgrag._compile_group(
    word text,
    members jsonb,
    nesting integer
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    if jsonb_typeof(members) <> 'array' or jsonb_array_length(members) = 0 then
        raise exception '"%" needs a list of filters, got %.', word, members
            using errcode = 'PGR06', hint = format('For example {"%s": [{…}, {…}]}.', word);
    end if;
    return '(' || (
        select string_agg(
            pgrag._compile_filter(m.member, nesting + 1), format(' %s ', word) order by m.place
        )
        from jsonb_array_elements(members) with ordinality as m (member, place)
    ) || ')';
end;
$$;

-- One field with its condition: a value, a list, or an object of operators.
create or replace function pgrag._compile_field(
    field text,
    condition jsonb
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    operators jsonb := case jsonb_typeof(condition)
        when 'object' then condition
        when 'array' then jsonb_build_object(
            case when field in ('section_path', 'path') then '=' else 'in' end, condition
        )
        else jsonb_build_object('=', condition)
    end;
    expression text;
    kind text;
begin
    select f.expression, f.kind
    into expression, kind
    from (values
        ('key', 'p.key', 'text'), ('url', 'p.url', 'text'), ('title', 'p.title', 'text'),
        ('topic', 'p.topic', 'text'), ('type', 'p.type', 'text'),
        ('language', 'p.language', 'language'), ('uuid', 'p.uuid', 'text'),
        ('link', 'p.link', 'text'), ('tags', 'p.tags', 'list'), ('path', 'p.path', 'path'),
        ('page', 'p', 'page'), ('created', 'p.created', 'time'), ('date', 'p.created', 'time'),
        ('modified', 'p.modified', 'time'), ('links', 'p', 'links'),
        ('heading', 'd.heading', 'text'), ('root_section', 'd.root_section', 'text'),
        ('section_path', 'd.path', 'path'), ('position', 'd.position', 'text'),
        ('types', 'd.types', 'list'), ('content_tags', 'd.content_tags', 'list'),
        ('keywords', 'd.keywords', 'list'), ('depth', 'd.depth', 'number'),
        ('depth_min', 'd.depth', 'minimum'), ('depth_max', 'd.depth', 'maximum'),
        ('heading_level', 'd.heading_level', 'number'), ('level', 'd.level', 'number')
    ) as f (name, expression, kind)
    where f.name = field;

    if expression is null and field like 'front\_matter.%' then
        expression := format(
            '(p.front_matter #> %L)',
            string_to_array(substr(field, length('front_matter.') + 1), '.')
        );
        kind := 'json';
    elsif expression is null then
        raise exception 'There is no filter field "%".', field
            using errcode = 'PGR06',
                hint = format(
                    'Use key, url, page, title, topic, type, language, uuid, link, tags, path, '
                    'created, modified, links, heading, root_section, section_path, depth, '
                    'depth_min, depth_max, heading_level, level, types, content_tags, keywords, '
                    'position, or front_matter.%s.', field
                );
    end if;
    if operators = '{}' then
        raise exception 'The filter field "%" has no condition.', field using errcode = 'PGR06';
    end if;
    return (
        select string_agg(
            pgrag._compile_operator(field, kind, expression, o.key, o.value), ' and '
        )
        from jsonb_each(operators) as o
    );
end;
$$;
