-- A source as a condition on the page p: #tag, "folder", "folder/note", [[note]] (pages that link
-- to the note) or outgoing([[note]]) (pages that the note links to).
create or replace function _pgrag.page_query_source(
    source jsonb,
    scope jsonb
)
returns text
language plpgsql
stable
parallel safe
as $$
declare
    call text := source ->> 'call';
    kind text := source ->> 'kind';
    name text := trim(both '/' from source ->> 'value');
    note text := coalesce(source ->> 'value', source #>> '{of,0,value}');
    owner_id bigint := scope -> 'library_id';
    wanted_version bigint := scope -> 'version_id';
    targets bigint[];
begin
    if kind = 'tag' then
        name := lower(substr(name, 2));
        return format(
            'exists (select from unnest(p.tags) as t (tag)'
            ' where lower(t.tag) = %1$L or starts_with(lower(t.tag), %2$L))',
            name, name || '/'
        );
    elsif kind = 'text' then
        name := lower(name);
        return format(
            '(%1$L = '''' or starts_with(lower(p.key), %2$L)'
            ' or lower(p.key) in (%1$L, %3$L, %4$L, %5$L))',
            name, name || '/', name || '.md', name || '.mdx', name || '.markdown'
        );
    elsif kind = 'link' or call = 'outgoing' and source #>> '{of,0,kind}' = 'link' then
        note := _pgrag.link_path(to_jsonb(note));
        -- The pages of this path, else of this file name, title or alias.
        targets := array(
            select p.page_id
            from pgrag.pages as p
            cross join lateral _pgrag.link_path(to_jsonb(p.key)) as k (path)
            cross join lateral (
                select case
                    when k.path = note then 0
                    when right('/' || k.path, length(note) + 1) = '/' || note then 1
                    when lower(p.title) = note then 2
                    when note in (select lower(a) from unnest(p.aliases) as a) then 3
                end
            ) as d (distance)
            where p.library_id = owner_id
                and p.version_id = wanted_version
                and d.distance is not null
            order by d.distance
            fetch first row with ties
        );
        return format(
            'p.page_id in (select '
            || case
                when call = 'outgoing'
                then 'e.target_page_id from pgrag.edges as e where e.library_id = %1$L::bigint'
                    || ' and e.source_page_id = any (%3$L::bigint[])'
                    || ' and e.target_page_id is not null and e.how is distinct from ''self'')'
                -- Links may name a note that does not exist.
                when targets = '{}'
                then 'e.source_page_id from pgrag.edges as e where e.library_id = %1$L::bigint'
                    || ' and e.version_id = %2$L::bigint and e.target_page_id is null'
                    || ' and e.name = %4$L)'
                else 'e.source_page_id from pgrag.edges as e where e.library_id = %1$L::bigint'
                    || ' and e.target_page_id = any (%3$L::bigint[])'
                    || ' and e.how is distinct from ''self'')'
            end,
            owner_id, wanted_version, targets, regexp_replace(note, '^.*/', '')
        );
    end if;
    perform _pgrag.page_query_error(
        source, 'expected #tag, "folder", [[note]] or outgoing([[note]])',
        case call when 'outgoing' then 'Write outgoing([[note]]).' end
    );
end;
$$;

-- What a query refers to: properties, each with the keys of front matter that have the same simple
-- form (due-on and "Due on"), and file.* fields (file.link always, because results show it).
create or replace function _pgrag.page_query_scope(
    query jsonb,
    library_id bigint,
    version_id bigint
)
returns jsonb
language plpgsql
stable
parallel safe
as $$
declare
    names text[] := array(
        select distinct n #>> '{}'
        from (
            select jsonb_path_query(
                query - 'source', '$.** ? (@.is_name == true && !exists(@.value)).text'
            )
            union all
            select jsonb_path_query(
                query,
                '$.** ? ((@.of[0].text == "row" || @.of[0].text == "rows")'
                ' && @.of[1].is_name == true).of[1].value'
            )
        ) as q (n)
        where n #>> '{}' not in ('file', 'row', 'this')
        order by 1
    );
    keys jsonb;
    unknown text;
begin
    select coalesce(jsonb_object_agg(n.name, n.keys), '{}')
    into keys
    from (
        select
            w.name,
            w.name || array_agg(f.key order by f.key) filter (where f.key <> w.name) as keys
        from unnest(names) as w (name)
        join (
            select k.key, _pgrag.property_name(k.key) as simple_name
            from pgrag.pages as p
            cross join lateral jsonb_object_keys(p.front_matter) as k (key)
            where p.library_id = page_query_scope.library_id
                and p.version_id = page_query_scope.version_id
                and names <> '{}'
            group by k.key
        ) as f on f.simple_name = _pgrag.property_name(w.name)
        group by w.name
    ) as n;
    for unknown in
        select n
        from unnest(names) as n
        where query ->> 'type' <> 'task' and n not in ('key', 'rows', 'tags') and not keys ? n
            and not jsonb_path_exists(
                query, '$.commands[*].name ? (@ == $name)', jsonb_build_object('name', n)
            )
    loop
        raise notice 'No page has a property %.', quote_literal(unknown);
    end loop;
    return jsonb_build_object(
        'library_id', library_id,
        'version_id', version_id,
        'row', case query ->> 'type' when 'task' then 'task' else 'page' end,
        'columns', '{}'::jsonb,
        'names', names,
        'keys', keys,
        'files', array(
            select f.name
            from _pgrag.page_query_file() as f
            where f.name = 'link'
                or f.name = 'plain_tags' and 'tags' = any (names)
                or f.name in (
                    select lower(n #>> '{}')
                    from jsonb_path_query(
                        query,
                        '$.** ? (@.of[0].text == "file" || @.of[0].of[1].value == "file")'
                        '.of[1].value'
                    ) as n
                )
            order by f.name
        )
    );
end;
$$;
