-- The pages that a name means, as in a wikilink: by the path of the file or its end, else by title,
-- else by alias, else by slug. Several pages mean that the name is ambiguous.
create or replace function _pgrag.pages_named(
    library_id bigint,
    version_id bigint,
    wish text
)
returns setof bigint
language sql
stable
parallel safe
set search_path from current
as $$
    select r.page_id
    from (
        select
            n.page_id,
            rank() over (
                order by
                    array_position('{path, title, alias, slug}'::text[], n.how),
                    n.full_name <> w.name
            ) as number
        from (select _pgrag.link_name(pages_named.wish) as name offset 0) as w
        join pgrag.page_names as n
            on n.library_id = pages_named.library_id
            and n.version_id = pages_named.version_id
            and n.name = _pgrag.last_name(w.name)
        where w.name <> ''
            and n.how in ('path', 'title', 'alias', 'slug')
            and (
                n.full_name = w.name
                or n.how = 'path' and right(n.full_name, length(w.name) + 1) = '/' || w.name
            )
    ) as r
    where r.number = 1
    group by r.page_id;
$$;

-- The pages that a person means: by key, id, uuid or address, else as a link names them; of several
-- of one name, one whose key is the name as it is written.
create or replace function _pgrag.pages_called(
    library_id bigint,
    version_id bigint,
    wish text
)
returns setof bigint
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
declare
    address constant text := rtrim(split_part(wish, '#', 1), '/');
begin
    return query
    select p.page_id
    from pgrag.pages as p
    where p.library_id = pages_called.library_id
        and p.version_id = pages_called.version_id
        and p.key = wish;
    if not found and wish ~ '[./#]' then
        return query
        select p.page_id
        from pgrag.pages as p
        where p.library_id = pages_called.library_id
            and p.version_id = pages_called.version_id
            and rtrim(p.url, '/') = address
        order by p.url = wish desc, p.key
        limit 1;
    end if;
    if not found then
        return query
        select p.page_id
        from pgrag.pages as p
        where p.library_id = pages_called.library_id
            and p.version_id = pages_called.version_id
            and p.page_id = case when wish ~ '^[0-9]{1,18}$' then wish::bigint end
        union
        select p.page_id
        from pgrag.pages as p
        where p.library_id = pages_called.library_id
            and p.version_id = pages_called.version_id
            and p.uuid in (lower(wish), lower(btrim(wish, '{}')));
    end if;
    if not found then
        return query
        select n.page_id
        from (
            select
                p.page_id,
                rank() over (
                    order by regexp_replace(p.key, '\.[^./]*$', '') = wish desc
                ) as place
            from _pgrag.pages_named(
                pages_called.library_id, pages_called.version_id, wish
            ) as m (page_id)
            join pgrag.pages as p
                on p.library_id = pages_called.library_id and p.page_id = m.page_id
        ) as n
        where n.place = 1;
    end if;
end;
$$;

-- Keys of at most three pages whose name, title or alias is near a name or contains it. Only names
-- that share three characters in a row with it are compared, because a library has thousands.
create or replace function _pgrag.pages_like(
    library_id bigint,
    version_id bigint,
    wish text
)
returns text[]
language sql
stable
parallel safe
as $$
    select array_agg(k.key order by k.likeness desc, k.key)
    from (
        select p.key, max(c.likeness) as likeness
        from (
            select left(_pgrag.last_name(_pgrag.link_name(pages_like.wish)), 100) as name offset 0
        ) as w
        cross join lateral (
            select
                _pgrag.trigrams(w.name) as trigrams,
                array(
                    select '%' || replace(replace(t.part, '\', '\\'), '_', '\_') || '%'
                    from (
                        select substr(w.name, number, 3) as part
                        from generate_series(1, greatest(1, length(w.name) - 2)) as number
                    ) as t
                    where t.part not like '%\%%'
                ) as patterns
            offset 0
        ) as t
        join lateral (
            select
                n.page_id,
                case
                    when strpos(n.name, w.name) > 0 then 1 + length(w.name)::float8 / length(n.name)
                    else _pgrag.similarity(t.trigrams, _pgrag.trigrams(n.name))
                end as likeness
            from (
                select n.page_id, n.name
                from pgrag.page_names as n
                where n.library_id = pages_like.library_id
                    and n.version_id = pages_like.version_id
                    and n.how in ('path', 'title', 'alias')
                    and n.name like any (t.patterns)
                -- The likeness of every name would take seconds in a large library.
                order by
                    (select count(*) from unnest(t.patterns) as p where n.name like p) desc,
                    length(n.name)
                limit 100
            ) as n
            offset 0
        ) as c on c.likeness >= 0.4
        join pgrag.pages as p on p.library_id = pages_like.library_id and p.page_id = c.page_id
        where w.name <> ''
        group by p.page_id, p.key
        order by likeness desc, p.key
        limit 3
    ) as k;
$$;
