-- The rows that a query over pages begins with: the pages of its source, or their tasks.
create or replace function pgrag._page_query_rows(
    query jsonb,
    library_id bigint,
    version_id bigint,
    scope jsonb,
    files text[]
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    is_task boolean := query ->> 'type' = 'task';
begin
    return format(
        'select p.page_id, p.key, p.title, %s as line, %s as fields%s, null::bigint as place'
        ' from pgrag.pages as p%s where p.library_id = %L::bigint and p.version_id = %L::bigint'
        '%s%s%s',
        case when is_task then '(t.task ->> ''line'')::integer' else 'null::integer' end,
        case when is_task then 'p.front_matter || t.task' else 'p.front_matter' end,
        (
            select string_agg(format(', %s as %I', f.expression, 'file_' || f.name), '')
            from pgrag._page_query_file() as f
            where f.name = any (files)
        ),
        case
            when is_task
            then ' cross join lateral jsonb_array_elements('
                || 'pgrag._page_tasks(p.key, p.head, p.body)) as t (task)'
        end,
        library_id,
        version_id,
        ' and ' || pgrag._page_query_sources(query -> 'source', library_id, version_id),
        pgrag._page_query_prefilter(query, scope),
        case
            when is_task and not pgrag._asks_for_done_tasks(query)
            then ' and not (t.task ->> ''checked'')::boolean'
        end
    );
end;
$$;

-- A first WHERE of equalities, as containment in the front matter: what its index answers.
create or replace function pgrag._page_query_prefilter(
    query jsonb,
    scope jsonb
)
returns text
language sql
immutable
parallel safe
set search_path from current
as $$
    select string_agg(
        (
            select ' and ('
                || string_agg(
                    format(
                        'p.front_matter @> %L::jsonb',
                        jsonb_build_object(k, c.part #> '{of,1,value}')
                    ),
                    ' or ' order by k
                )
                || ')'
            from (
                select c.part #>> '{of,0,name}' as k
                union
                select jsonb_array_elements_text(
                    _page_query_prefilter.scope -> 'keys'
                    -> pgrag._property_name(c.part #>> '{of,0,name}')
                )
            ) as names
        ),
        ''
    )
    from (
        select
            case w.value ->> 'node'
                when 'and' then w.value -> 'of' else jsonb_build_array(w.value)
            end as parts
        from (select _page_query_prefilter.query #> '{commands,0,value}' as value) as w
        where _page_query_prefilter.query #>> '{commands,0,command}' = 'where'
            and _page_query_prefilter.query ->> 'type' <> 'task'
    ) as w
    cross join lateral jsonb_array_elements(w.parts) as c (part)
    where c.part ->> 'operator' = '='
        and c.part #>> '{of,0,node}' = 'name'
        and c.part #>> '{of,0,name}' not in ('tags', 'row')
        and c.part #>> '{of,1,node}' = 'literal'
        and pgrag._page_value_type(c.part #> '{of,1,value}') in ('string', 'number', 'boolean');
$$;

-- A source as a condition on the page p.
create or replace function pgrag._page_query_sources(
    source jsonb,
    library_id bigint,
    version_id bigint
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    kind text := source ->> 'node';
    name text := source ->> 'name';
    link text;
    targets bigint[];
begin
    case kind
        when 'and', 'or' then
            return (
                select '('
                    || string_agg(
                        pgrag._page_query_sources(o.operand, library_id, version_id),
                        case kind when 'and' then ' and ' else ' or ' end order by o.place
                    )
                    || ')'
                from jsonb_array_elements(source -> 'of') with ordinality as o (operand, place)
            );
        when 'not' then
            return format(
                '(not %s)', pgrag._page_query_sources(source -> 'of' -> 0, library_id, version_id)
            );
        when 'group' then
            return pgrag._page_query_sources(source -> 'of' -> 0, library_id, version_id);
        when 'tag' then
            return format(
                'exists (select from unnest(p.tags) as t (tag)'
                ' where lower(t.tag) = %1$L or starts_with(lower(t.tag), %2$L))',
                lower(rtrim(name, '/')), lower(rtrim(name, '/')) || '/'
            );
        when 'folder' then
            name := trim(both '/' from name);
            return format(
                '(%1$L = '''' or starts_with(p.key, %2$L) or p.key in (%1$L, %3$L, %4$L, %5$L))',
                name, name || '/', name || '.md', name || '.mdx', name || '.markdown'
            );
        when 'incoming', 'outgoing' then
            link := pgrag._link_path(to_jsonb(name));
            targets := pgrag._pages_called(library_id, version_id, link);
            if kind = 'outgoing' then
                return format(
                    'p.page_id in (select e.target_page_id from pgrag.edges as e'
                    ' where e.library_id = %L::bigint and e.source_page_id = any (%L::bigint[])'
                    ' and e.target_page_id is not null and e.how is distinct from ''self'')',
                    library_id, targets
                );
            end if;
            return format(
                case
                    when targets = '{}'
                    -- A note that does not exist can be linked all the same.
                    then 'p.page_id in (select e.source_page_id from pgrag.edges as e'
                        || ' where e.library_id = %1$L::bigint and e.version_id = %2$L::bigint'
                        || ' and e.target_page_id is null and e.name = %4$L)'
                    else 'p.page_id in (select e.source_page_id from pgrag.edges as e'
                        || ' where e.library_id = %1$L::bigint'
                        || ' and e.target_page_id = any (%3$L::bigint[])'
                        || ' and e.how is distinct from ''self'')'
                end,
                library_id, version_id, targets, regexp_replace(link, '^.*/', '')
            );
        else
            return 'true';
    end case;
end;
$$;
