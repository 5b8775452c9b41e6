-- The properties that a query over pages names, wherever it does.
create or replace function pgrag._page_query_property_names(
    query jsonb
)
returns text[]
language sql
immutable
parallel safe
set search_path from current
as $$
    select coalesce(array_agg(distinct n #>> '{}'), '{}')
    from jsonb_path_query(
        _page_query_property_names.query,
        '$.** ? (@.node == "name" || @.node == "member"'
        ' && (@.of[0].name == "row" || @.of[0].name == "rows")).name'
    ) as n
    where n #>> '{}' not in ('file', 'row', 'this');
$$;

-- The keys of the version's front matter that these names stand for, by the names' simple form.
create or replace function pgrag._page_query_keys(
    library_id bigint,
    version_id bigint,
    names text[]
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    simple_names text[] := array(select distinct pgrag._property_name(n) from unnest(names) as n);
begin
    if names = '{}' then
        return '{}';
    end if;
    return (
        select coalesce(jsonb_object_agg(k.name, k.keys), '{}')
        from (
            select pgrag._property_name(f.key) as name, jsonb_agg(f.key order by f.key) as keys
            from (
                select distinct k.key
                from pgrag.pages as p
                cross join lateral jsonb_object_keys(p.front_matter) as k (key)
                where p.library_id = _page_query_keys.library_id
                    and p.version_id = _page_query_keys.version_id
            ) as f
            where pgrag._property_name(f.key) = any (simple_names)
            group by 1
        ) as k
    );
end;
$$;

-- What of the pages themselves the query asks for: file.name and such; the link is always shown.
create or replace function pgrag._page_query_files(
    query jsonb
)
returns text[]
language sql
immutable
parallel safe
set search_path from current
as $$
    select array(
        select f.name
        from pgrag._page_query_file() as f
        where f.name = 'link'
            or f.name = 'plain_tags'
            and 'tags' = any (pgrag._page_query_property_names(_page_query_files.query))
            or f.name in (
                select lower(n #>> '{}')
                from jsonb_path_query(
                    _page_query_files.query,
                    '$.** ? (@.node == "member" && @.of[0].name == "file").name'
                ) as n
                union all
                select lower(n #>> '{}')
                from jsonb_path_query(
                    _page_query_files.query,
                    '$.** ? (@.node == "index" && @.of[0].name == "file").of[1].value'
                ) as n
            )
        order by f.name
    );
$$;

-- Whether a query over tasks speaks of their state; else only the open ones are meant.
create or replace function pgrag._asks_for_done_tasks(
    query jsonb
)
returns boolean
language sql
immutable
parallel safe
set search_path from current
as $$
    select exists (
        select
        from unnest(pgrag._page_query_property_names(_asks_for_done_tasks.query)) as n
        where lower(n) in ('completed', 'checked', 'status', 'fullycompleted', 'completion')
    );
$$;

create or replace function pgrag._page_query_headings(
    query jsonb,
    scope jsonb
)
returns text[]
language sql
immutable
parallel safe
set search_path from current
as $$
    select case
            when _page_query_headings.query ->> 'type' = 'task'
            then case
                when _page_query_headings.scope ->> 'row' = 'group' then '{Group,Tasks}'::text[]
                else '{Task,Status,Heading}'
            end
            when (_page_query_headings.query ->> 'without_id')::boolean
                and _page_query_headings.query -> 'columns' <> '[]'
            then '{}'
            when _page_query_headings.scope ->> 'row' = 'group' then '{Group}'
            else '{File}'
        end
        || array(
            select c.column ->> 'name'
            from jsonb_array_elements(_page_query_headings.query -> 'columns') with ordinality
                as c ("column", place)
            order by c.place
        );
$$;

create or replace function pgrag._page_query_cells(
    query jsonb,
    scope jsonb
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    is_group boolean := scope ->> 'row' = 'group';
    cells text[] := '{}';
begin
    if query ->> 'type' = 'task' then
        cells := case
            when is_group then array['r.fields -> ''key''', 'r.fields -> ''rows''']
            else array[
                'r.fields -> ''text''', 'r.fields -> ''status''', 'r.fields -> ''heading'''
            ]
        end;
    elsif not (query ->> 'without_id')::boolean or query -> 'columns' = '[]' then
        cells := array[case when is_group then 'r.fields -> ''key''' else 'r.file_link' end];
    end if;
    cells := cells || array(
        select pgrag._page_query_value(c.column -> 'value', scope)
        from jsonb_array_elements(query -> 'columns') with ordinality as c ("column", place)
        order by c.place
    );
    return 'to_jsonb(array[' || array_to_string(cells, ', ') || ']::jsonb[])';
end;
$$;
