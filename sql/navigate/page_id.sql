-- Whatever asks for the id of a page takes its name, too: functions pass their argument here.
create or replace function pgrag.page_id(
    page text,
    library text default null,
    version text default null
)
returns bigint
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    -- LIBRARY:PAGE or LIBRARY@VERSION:PAGE; an address may have a colon, too.
    parts text[] := regexp_match(page, '^\s*([^\s:@]+)(?:@([^\s:]*))?:(.+)$');
    -- A passage stands for its page.
    wish text := regexp_replace(btrim(page), '(.)#c\d{1,9}$', '\1');
    found_ids bigint[];
    names text[];
begin
    if page is null or wish ~ '^-?[0-8]?[0-9]{1,18}$' then
        return wish::bigint;
    end if;
    if exists (select from pgrag.libraries as l where l.name = lower(parts[1])) then
        version := coalesce(
            parts[2],
            case when lower(btrim(coalesce(library, parts[1]))) = lower(parts[1]) then version end
        );
        library := parts[1];
        wish := regexp_replace(btrim(parts[3]), '(.)#c\d{1,9}$', '\1');
    end if;
    if library is not null then
        return (pgrag.find_page(library, wish, version)).page_id;
    end if;
    select array_agg(p.page_id), array_agg(format('%s:%s', (s.library).name, p.key))
    into found_ids, names
    from _pgrag.versions_in_scope(null, version) as s
    cross join lateral _pgrag.pages_called(
        (s.library).library_id, s.version_id, wish
    ) as m (page_id)
    join pgrag.pages as p
        on p.library_id = (s.library).library_id and p.page_id = m.page_id;
    if cardinality(found_ids) > 1 then
        raise exception 'There are % pages named %.',
            cardinality(found_ids), quote_literal(left(wish, 200))
            using errcode = 'PGR01',
                hint = format(
                    'Name one: %s%s.',
                    array_to_string(names[:10], ', '),
                    case when cardinality(names) > 10
                        then format(' and %s more', cardinality(names) - 10) end
                );
    elsif found_ids is null then
        raise exception 'No library has a page %.', quote_literal(left(wish, 200))
            using errcode = 'PGR04',
                hint = coalesce(
                    'Did you mean ' || (
                        select string_agg(near.name, ', ')
                        from (
                            select format('%s:%s', (s.library).name, n.key) as name
                            from _pgrag.versions_in_scope(null, version) as s
                            cross join lateral unnest(
                                _pgrag.pages_like((s.library).library_id, s.version_id, wish)
                            ) as n (key)
                            limit 10
                        ) as near
                    ) || '?',
                    'Take the page_id of a hit, or a key, name, title, alias, url or uuid.'
                );
    end if;
    return found_ids[1];
end;
$$;

comment on function pgrag.page_id is
'The id of a page: itself, or that of the page that find_page finds in the library, by default in
all libraries, each in its newest version. LIBRARY:PAGE and LIBRARY@VERSION:PAGE name one library.
Every function with an argument page_id takes such a name instead. Errors: PGR01 with the pages of
an ambiguous name, PGR02, PGR03, PGR04 with near names.';
