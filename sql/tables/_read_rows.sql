-- Rows of an indexed table as pages for ingest_pages, those with these keys; without keys all rows,
-- with key and hash alone. With row_security off PostgreSQL refuses to read a table of which
-- policies hide rows from the caller: the pages of hidden rows would be removed.
create or replace function _pgrag.read_rows(
    definition pgrag.indexed_tables,
    keys text[] default null
)
returns table (
    key text,
    hash text,
    page jsonb
)
language plpgsql
stable
parallel safe
set row_security = off
set datestyle = 'ISO, YMD'
set timezone = 'UTC'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set extra_float_digits = 1
as $$
declare
    columns constant jsonb := definition.columns;
    id constant text[] := array(select jsonb_array_elements_text(columns -> 'id'));
    -- Every column that a page depends on.
    contents constant text := (
        select string_agg(format('t.%I', n.name #>> '{}'), ', ')
        from jsonb_path_query(columns, '$.*[*]') as n (name)
    );
    -- Incremented when the same row would give another page.
    reading constant text := concat_ws(' ', 'rows 1', columns, definition.format, definition.url);
    source text := definition.source;
begin
    if keys is not null then
        source := (
            select format(
                'unnest($1) as w (key) join %s as t on %s', definition.source,
                string_agg(
                    format(
                        't.%I = %s::%s', a.attname,
                        case
                            when cardinality(id) = 1 then 'w.key'
                            else format('_pgrag.key_part(w.key, %s)', i.nth)
                        end,
                        format_type(a.atttypid, a.atttypmod)
                    ),
                    ' and '
                )
            )
            from unnest(id) with ordinality as i (name, nth)
            join pg_attribute as a on a.attrelid = definition.source and a.attname = i.name
        );
    else
        source := format('%s as t', definition.source);
    end if;
    return query execute format(
        'select r.key, md5(concat($2, r.content)), case when $1 is not null then'
        ' _pgrag.row_page(r.key, r.texts, r.fields, r.metadata, $3, $4)'
        ' || jsonb_build_object(''source_hash'', md5(concat($2, r.content))) end'
        ' from (select %s as key, row(%s)::text as content, array[%s]::text[] as texts,'
        ' to_jsonb((select f from (select %s) as f)) as fields,'
        ' to_jsonb((select m from (select %s) as m)) as metadata'
        ' from %s) as r'
        ' where btrim(r.key) <> ''''',
        _pgrag.key_expression('t', id),
        contents,
        (
            select string_agg(format('t.%I', n.name), ', ')
            from jsonb_array_elements_text(columns -> 'text') as n (name)
        ),
        coalesce(
            (
                select string_agg(format('t.%I as %I', c.value ->> 0, c.key), ', ')
                from jsonb_each(columns) as c
                where c.key not in ('id', 'text', 'metadata')
            ),
            'null as title'
        ),
        (
            select string_agg(format('t.%I', n.name), ', ')
            from jsonb_array_elements_text(columns -> 'metadata') as n (name)
        ),
        source
    )
    using keys, reading, definition.format, definition.url;
end;
$$;

-- A row as a page. fields: title, url, type, tags, language, created, modified, those that are
-- columns.
create or replace function _pgrag.row_page(
    key text,
    texts text[],
    fields jsonb,
    metadata jsonb,
    format text,
    url text
)
returns jsonb
language plpgsql
stable
parallel safe
as $$
declare
    body constant text := coalesce((
        select string_agg(
            case row_page.format when 'html' then _pgrag.html_text(t.text) else t.text end,
            e'\n\n' order by t.nth
        )
        from unnest(texts) with ordinality as t (text, nth)
        where btrim(t.text, e' \t\r\n') <> ''
    ), '');
    created constant text := fields ->> 'created';
    modified constant text := fields ->> 'modified';
    title constant text := coalesce(
        nullif(btrim(fields ->> 'title'), ''),
        -- The first line, without the marks of a heading.
        nullif(left(btrim(substring(ltrim(body, e' \t\r\n#') from '^[^\n]*')), 80), ''),
        key
    );
begin
    return jsonb_strip_nulls(jsonb_build_object(
        'key', key,
        'title', title,
        'path', jsonb_build_array(title),
        'body', body,
        'documents', _pgrag.row_passages(body, title, row_page.format <> 'text'),
        'front_matter', coalesce(metadata, '{}'),
        'url', coalesce(replace(row_page.url, '{key}', key), fields ->> 'url'),
        'type', fields ->> 'type',
        'tags', case jsonb_typeof(fields -> 'tags')
            when 'array' then jsonb_path_query_array(fields -> 'tags', '$[*] ? (@ != null)')
            when 'string'
            then to_jsonb(array_remove(regexp_split_to_array(fields ->> 'tags', '\s*,\s*'), ''))
        end,
        'language', nullif(btrim(fields ->> 'language'), ''),
        'created', case when pg_input_is_valid(created, 'timestamptz') then created end,
        'modified', case when pg_input_is_valid(modified, 'timestamptz') then modified end,
        'warnings', (
            select jsonb_agg(format('%s: %s is no time: %s', key, d.name, left(d.value, 80)))
            from (values ('created', created), ('modified', modified)) as d (name, value)
            where not pg_input_is_valid(d.value, 'timestamptz')
        )
    ));
end;
$$;
