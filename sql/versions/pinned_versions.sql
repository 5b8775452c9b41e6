create or replace function pgrag.pinned_versions(
    dependencies jsonb
)
returns table (
    library text,
    dependency text,
    wanted text,
    version text,
    version_id bigint,
    reason text
)
language plpgsql
stable
parallel safe
rows 10
set search_path from current
as $$
begin
    return query
    select l.name, p.dependency, p.wanted, v.label, v.version_id, p.reason
    from _pgrag.pins(pinned_versions.dependencies) as p
    join pgrag.libraries as l on l.library_id = p.library_id
    join pgrag.versions as v on v.library_id = p.library_id and v.version_id = p.version_id
    order by l.name;
end;
$$;

comment on function pgrag.pinned_versions is
'The libraries that a project depends on, each in the version that a search with these dependencies
reads, and why. dependencies: names with versions or ranges, as package.json, pyproject.toml, go.mod
or Cargo.toml write them: {"jest": "26.0.1", "@babel/core": "^7.2"}, or {"jest": {"version":
"26.0.1", "from": "package-lock.json"}}, whose file the reason names. A dependency is of a library
if their names are equal but for capitals, points, dashes and underscores; else by the last part of
its path (github.com/gin-gonic/gin/v2), by an added or missing "js", or as the core of a scope
(@babel/core of babel). wanted: the version or range as resolve_version takes it; a range is read as
the newest version that it allows; what is not indexed, or the first bound of a range without a
version, as resolve_version says. A dependency that pins nothing ("*", a path, a tag that is no
version) leaves its library out. Errors: PGR01 for dependencies that are no such object, or more
than 50,000.';

-- Of each library that one of the dependencies means: the version in its place, and why.
create or replace function _pgrag.pins(
    dependencies jsonb,
    library_ids bigint[] default null
)
returns table (
    library_id bigint,
    dependency text,
    wanted text,
    version_id bigint,
    reason text
)
language plpgsql
stable
parallel safe
rows 10
as $$
begin
    if dependencies is null then
        return;
    end if;
    if jsonb_typeof(dependencies) <> 'object' then
        raise exception 'dependencies must be an object of names and versions, got %.',
            left(dependencies::text, 100)
            using errcode = 'PGR01', hint = 'Write {"jest": "26.0.1", "react": "^18"}.';
    end if;
    if (select count(*) from jsonb_object_keys(dependencies)) > 50000 then
        raise exception 'dependencies has more than 50,000 names.'
            using errcode = 'PGR01', hint = 'Pass those whose documentation is searched.';
    end if;
    return query
    -- Lock files name thousands of packages, of which few are libraries: those are found first, by
    -- equality alone, and only their ranges are read.
    with called as materialized (
        select l.library_id, c.letters, min(c.preference) as preference
        from pgrag.libraries as l
        cross join lateral (
            values
                (translate(l.name, '-_. ', ''), 1),
                (translate(substring(l.name from '[^/]*$'), '-_. ', ''), 2)
        ) as c (letters, preference)
        where pins.library_ids is null or l.library_id = any (pins.library_ids)
        group by 1, 2
    ),
    likely as materialized (
        select
            c.library_id, d.name, d.value, n.preference, c.preference as second_preference
        from jsonb_each(dependencies) as d (name, value)
        cross join lateral _pgrag.names_of_dependency(d.name) as n (letters, preference)
        join called as c on c.letters = n.letters
    ),
    meant as (
        select distinct on (p.library_id)
            p.library_id, p.name, w.wanted,
            coalesce(
                ' in ' || left(
                    case when jsonb_typeof(p.value) = 'object' then p.value ->> 'from' end, 200
                ),
                ' by the project'
            ) as place
        from likely as p
        cross join lateral _pgrag.pinned_range(
            case jsonb_typeof(p.value)
                when 'string' then p.value #>> '{}'
                when 'object' then p.value ->> 'version'
            end
        ) as w (wanted)
        where w.wanted is not null
        order by p.library_id, p.preference, p.second_preference, length(p.name), p.name
    )
    select
        m.library_id, m.name, m.wanted,
        coalesce((f.version).version_id, (g.version).version_id, (n.version).version_id),
        case
            when f.reason = 'exact' then 'pinned' || m.place
            when f.is_substitute or f.reason is null
            then m.wanted || ', pinned' || m.place || ', is not indexed; '
                || coalesce(
                    nullif(split_part(coalesce(f.reason, g.reason), ' is not indexed; ', 2), ''),
                    n.reason, 'the nearest to it'
                )
            else f.reason || ', pinned' || m.place
        end
    from meant as m
    left join lateral _pgrag.fitting_version(m.library_id, m.wanted) as f on true
    -- Where no version is in a range, the one that would stand for its first bound.
    left join lateral _pgrag.fitting_version(
        m.library_id, substring(m.wanted from '\d[0-9a-z.+-]*')
    ) as g
        on f.reason is null
    left join lateral _pgrag.newest_version(m.library_id) as n
        on f.reason is null and g.reason is null
    where coalesce(f.reason, g.reason, n.reason) is not null;
end;
$$;

-- How a library may be called that has this name as a dependency, the likeliest first.
create or replace function _pgrag.names_of_dependency(
    name text
)
returns table (
    letters text,
    preference integer
)
language sql
immutable
parallel safe
rows 5
as $$
    select translate(c.name, '@-_. ', ''), min(c.preference)
    from (
        -- Go writes the major behind the name.
        select pg_catalog.regexp_replace(lower(btrim(left(name, 300))), '(?:/|\.)v\d+$', '') as name
    ) as d
    cross join lateral (
        values
            (d.name, 1),
            (case when d.name !~ '^@' then substring(d.name from '([^/]+/[^/]+)$') end, 2),
            (case when d.name !~ '^@' then substring(d.name from '[^/]+$') end, 3),
            (d.name || 'js', 4),
            (substring(d.name from '^(.+?)[.-]?js$'), 4),
            (substring(d.name from '^@([^/]+)/(?:core|\1)$'), 5)
    ) as c (name, preference)
    where translate(c.name, '@-_. ', '') <> ''
    group by 1;
$$;

-- A version or range as dependencies are written, in the notation of resolve_version; null for what
-- pins nothing.
create or replace function _pgrag.pinned_range(
    written text
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    -- Of Python: !=1.5, 2.0rc1 as 2.0, ~=1.4.2, ==1.4.*; of npm 1.2 - 2.3.
    rewritten constant text[] := array[
        ['[,\s]+', ' '],
        ['!= ?\S+ ?', ''],
        ['(\d)\.?(?:a|b|c|rc|alpha|beta|post|dev)\.?\d+', '\1'],
        ['~= ?(\d+\.\d+\.\d+)', '~\1'],
        ['~= ?([1-9]\d*\.\d+)', '^\1'],
        ['(\d)\.\*', '\1.x'],
        ['(^| )={1,3} ?(?=v?\d)', '\1'],
        ['^ ?(v?\d\S*) - (v?\d\S*) ?$', '>=\1 <=\2']
    ];
    range text := lower(left(written, 200));
begin
    for nth in 1..array_length(rewritten, 1) loop
        range := regexp_replace(range, rewritten[nth][1], rewritten[nth][2], 'g');
    end loop;
    range := btrim(range);
    -- Nothing else may reach a search, which refuses what is no range; Go names a commit so.
    return case
        when range ~ '^(\|?\|? ?(\^|~|[<>]=?|=)? ?v?\d[0-9a-z.*+-]* ?)+$'
            and range !~ '^v?0\.0\.0-\d{14}-'
        then range
    end;
end;
$$;

-- Replaces the versions to search by those that the project pins.
create or replace function _pgrag.with_pinned_versions(
    dependencies jsonb,
    inout version_ids bigint[],
    inout version_reasons text[],
    out pinned_ids bigint[]
)
returns record
language plpgsql
stable
parallel safe
as $$
declare
    pin record;
begin
    pinned_ids := '{}';
    for pin in
        -- Ids name their library.
        select p.*, v.nth
        from unnest(version_ids) with ordinality as v (id, nth)
        join _pgrag.pins(dependencies, array(select u.id >> 12 from unnest(version_ids) as u (id)))
            as p
            on p.library_id = v.id >> 12
    loop
        version_ids[pin.nth] := pin.version_id;
        version_reasons[pin.nth] := pin.reason;
        pinned_ids := pinned_ids || pin.version_id;
    end loop;
end;
$$;
