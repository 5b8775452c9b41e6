-- The order of the documentation is that of its folders: a folder begins with its index page, then
-- come its pages and folders by the position that their front matter states, then by name.
create or replace function pgrag.adjacent_pages(
    page_id anycompatible
)
returns setof pgrag.adjacent_page
language plpgsql
stable
parallel safe
rows 2
set search_path from current
set plan_cache_mode = force_custom_plan
as $$
declare
    here pgrag.pages := _pgrag.page(pgrag.page_id(adjacent_pages.page_id::text));
    place constant text[] := _pgrag.place_of(here.key);
    previous_id constant bigint := _pgrag.page_before(here.version_id, place);
    next_id constant bigint := _pgrag.page_after(here.version_id, place);
begin
    return query
    select r.relation, p.page_id, p.key, p.url, p.title
    from (values ('previous', previous_id), ('next', next_id)) as r (relation, page_id)
    join pgrag.pages as p on p.library_id = here.library_id and p.page_id = r.page_id;
end;
$$;

comment on function pgrag.adjacent_pages is
'The pages before and after a page in the order of the documentation (relation previous, next): the
index page of a folder (index, _index, readme, or the page of the same name beside it), then what is
in the folder. Pages and folders of one folder come by the position of their front matter (weight,
sidebar_position, nav_order, order, or order below sidebar; of a folder: that of its index page),
those without one behind them, then by name, numbers by their value. Errors: PGR04.';

-- The folders down to a page, then its name; of an index page, its folder.
create or replace function _pgrag.place_of(
    key text
)
returns text[]
language sql
immutable
parallel safe
as $$
    select pg_catalog.string_to_array(
        nullif(
            pg_catalog.regexp_replace(
                place_of.key, '((^|/)(index|_index|readme))?(\.[a-z0-9]+)?/?$', '', 'i'
            ),
            ''
        ),
        '/'
    );
$$;

-- What is directly in a folder, in order: pages, and folders, which may have a page, too.
create or replace function _pgrag.entries_of(
    version_id bigint,
    place text[]
)
returns table (
    name text,
    page_id bigint,
    nth bigint
)
language plpgsql
stable
parallel safe
rows 20
as $$
#variable_conflict use_column
declare
    -- A constant to the planner: where the order of the database is that of bytes, the index on
    -- keys has these pages side by side.
    beginning constant text := coalesce(array_to_string(entries_of.place, '/') || '/', '');
begin
    return query
    with files as materialized (
        -- What is below the folder, without its own index page.
        select
            f.page_id, f.key, split_part(f.rest, '/', 1) as name,
            f.rest ~* '^[^/]+(/|/(index|_index|readme)(\.[a-z0-9]+)?)?$' as is_entry,
            strpos(f.rest, '/') > 0 as is_folder
        from (
            select p.page_id, p.key, substr(p.key, length(beginning) + 1) as rest
            from pgrag.pages as p
            where p.library_id = entries_of.version_id >> 12
                and p.version_id = entries_of.version_id
                and starts_with(p.key, beginning)
            offset 0
        ) as f
        where f.rest !~* '^((index|_index|readme)(\.[a-z0-9]+)?)?$'
    ),
    entries as materialized (
        select
            case when f.is_folder then f.name else regexp_replace(f.name, '\.[A-Za-z0-9]+$', '') end
                as name,
            (array_agg(f.page_id order by f.key) filter (where f.is_entry))[1] as page_id
        from files as f
        group by 1
    )
    select
        e.name, e.page_id,
        row_number() over (
            order by
                _pgrag.stated_position(p.front_matter),
                lower(regexp_replace(
                    regexp_replace(e.name, '(\d+)', '000000000\1', 'g'),
                    '0*(\d{10})', '\1', 'g'
                )),
                e.name
        )
    from entries as e
    left join lateral (
        select p.front_matter
        from pgrag.pages as p
        where p.library_id = entries_of.version_id >> 12 and p.page_id = e.page_id
        offset 0
    ) as p on true;
end;
$$;

-- The position of a page in its folder, as generators of sites read it; null: none. Hugo's 0 is
-- none, too.
create or replace function _pgrag.stated_position(
    front_matter jsonb
)
returns numeric
language sql
immutable
parallel safe
as $$
    select (array_agg(w.stated::numeric order by w.nth))[1]
    from (
        values
            (1, nullif(front_matter ->> 'weight', '0')),
            (2, front_matter ->> 'sidebar_position'),
            (3, front_matter ->> 'nav_order'),
            (4, front_matter ->> 'order'),
            (5, front_matter #>> '{sidebar, order}')
    ) as w (nth, stated)
    where w.stated ~ '^-?\d{1,9}(\.\d{1,9})?$';
$$;

-- The first page behind a place: in it, else behind it in the folder above, and so on up.
create or replace function _pgrag.page_after(
    version_id bigint,
    place text[]
)
returns bigint
language plpgsql
stable
parallel safe
as $$
declare
    folder text[] := coalesce(place, '{}');
    done text;
    names text[];
    page_ids bigint[];
    nth integer;
begin
    loop
        select array_agg(e.name order by e.nth), array_agg(e.page_id order by e.nth)
        into names, page_ids
        from _pgrag.entries_of(page_after.version_id, nullif(folder, '{}')) as e;
        nth := case when done is null then 1 else array_position(names, done) + 1 end;
        if nth <= cardinality(names) then
            if page_ids[nth] is not null then
                return page_ids[nth];
            end if;
            folder := folder || names[nth];
            done := null;
        elsif folder = '{}' then
            return null;
        else
            done := folder[cardinality(folder)];
            folder := folder[:cardinality(folder) - 1];
        end if;
    end loop;
end;
$$;

-- The last page before a place: the last in what stands before it, else the page of its folder.
create or replace function _pgrag.page_before(
    version_id bigint,
    place text[]
)
returns bigint
language plpgsql
stable
parallel safe
as $$
declare
    folder text[] := coalesce(place, '{}');
    own_name text;
    found_id bigint;
begin
    while folder <> '{}' and found_id is null loop
        own_name := folder[cardinality(folder)];
        folder := folder[:cardinality(folder) - 1];
        found_id := _pgrag.last_before(page_before.version_id, folder, own_name);
        if found_id is null and folder = '{}' then
            found_id := (
                select p.page_id
                from pgrag.pages as p
                where p.library_id = page_before.version_id >> 12
                    and p.version_id = page_before.version_id
                    and p.key ~* '^(index|_index|readme)(\.[a-z0-9]+)?$'
                order by p.key
                limit 1
            );
        elsif found_id is null then
            found_id := (
                select e.page_id
                from _pgrag.entries_of(
                    page_before.version_id, nullif(folder[:cardinality(folder) - 1], '{}')
                ) as e
                where e.name = folder[cardinality(folder)]
            );
        end if;
    end loop;
    return found_id;
end;
$$;

-- The last page of a folder before one of its entries, or of the whole folder; null: none.
create or replace function _pgrag.last_before(
    version_id bigint,
    folder text[],
    own_name text
)
returns bigint
language plpgsql
stable
parallel safe
as $$
declare
    last record;
    below bigint;
begin
    with entries as materialized (
        select e.name, e.page_id, e.nth
        from _pgrag.entries_of(last_before.version_id, nullif(last_before.folder, '{}')) as e
    )
    select e.name, e.page_id
    into last
    from entries as e
    where own_name is null
        or e.nth < (select o.nth from entries as o where o.name = last_before.own_name)
    order by e.nth desc
    limit 1;
    if last.name is null then
        return null;
    end if;
    below := _pgrag.last_before(last_before.version_id, folder || last.name, null);
    return coalesce(below, last.page_id);
end;
$$;
