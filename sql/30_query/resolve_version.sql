-- Never a silent substitute: whatever is returned says why.
create or replace function pgrag.resolve_version(
    library text,
    wanted text default null
)
returns table (
    version text,
    version_id bigint,
    reason text
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(resolve_version.library);
    library_name text := lower(btrim(resolve_version.library));
    wish text := lower(btrim(coalesce(resolve_version.wanted, '')));
begin
    return query
    select v.label, v.version_id, 'exact'
        || case when v.status = 'ready' then '' else ' (its indexing is not finished)' end
    from pgrag.versions as v
    where v.library_id = owner_id and v.label = wish and resolve_version.wanted is not null;
    if found then
        return;
    end if;

    if wish in ('', 'latest') then
        return query
        select
            v.label,
            v.version_id,
            case
                when v.class = 'unversioned' then 'the library has no versions'
                when v.release_key is null then 'the newest tag; there is no release'
                when v.prerelease then 'the newest pre-release; there is no release'
                else 'the newest release'
            end
        from pgrag.versions as v
        where v.library_id = owner_id
        order by
            v.status = 'ready' desc,
            v.release_key is not null desc,
            v.prerelease,
            v.release_key desc,
            v.class = 'unversioned' desc,
            v.created_at desc,
            v.version_id desc
        limit 1;
    elsif pgrag._is_range(wish) or pgrag.version_class(wish) = 'partial' then
        return query
        select v.label, v.version_id, format('the newest version in the range %s', wish)
        from pgrag.versions as v
        where v.library_id = owner_id
            and v.release_key is not null
            and pgrag._in_range(v.release_key, wish)
            and (not v.prerelease or wish ~ '-')
        order by v.status = 'ready' desc, v.release_key desc, v.version_id desc
        limit 1;
    end if;
    if found then
        return;
    end if;

    if pgrag.release_key(wish) is not null then
        return query
        select
            v.label,
            v.version_id,
            format('%s is not indexed; the newest version before it', wish)
        from pgrag.versions as v
        where v.library_id = owner_id
            and v.release_key <= pgrag.release_key(wish)
            and (not v.prerelease or wish ~ '-')
        order by v.status = 'ready' desc, v.release_key desc, v.version_id desc
        limit 1;
    end if;
    if found then
        return;
    end if;

    return query
    select v.label, v.version_id, format('%s is not indexed; the unversioned documentation', wish)
    from pgrag.versions as v
    where v.library_id = owner_id and v.class = 'unversioned' and wish <> '';
    if not found then
        raise exception 'Library % has no version that fits %.',
            quote_literal(library_name), quote_literal(wish)
            using errcode = 'PGR03',
                hint = coalesce(
                    (
                        select 'It has: ' || string_agg(
                            coalesce(nullif(v.label, ''), '(unversioned)'),
                            ', '
                            order by v.release_key desc nulls last, v.label
                        ) || '.'
                        from pgrag.versions as v
                        where v.library_id = owner_id
                    ),
                    'It has no version yet.'
                );
    end if;
end;
$$;

comment on function pgrag.resolve_version(text, text) is
'The one version of a library that a wish stands for, and the reason: an exact label; a range (^1.2,
~1.2, 1.x, 1.2, >=2 <3, 1.2 || 2.x: the newest in it); null, empty or "latest" (the newest release,
a pre-release only if there is nothing else); a version that is missing (the newest before it); else
the unversioned documentation. version is empty for unversioned. Errors: PGR02 with the nearest
names, PGR03 with the versions that exist.';

-- The grammar of node-semver without its rarer corners: alternatives by ||, comparators by spaces.
create or replace function pgrag._is_range(
    wish text
)
returns boolean
language sql
immutable
parallel safe
as $$
    select _is_range.wish ~ '^[\^~<>=v\d][\^~<>=v\d.x*|\sa-z-]*$'
        and _is_range.wish ~ '[\^~<>=*|]|\d\.x|\s';
$$;

create or replace function pgrag._in_range(
    release_key text,
    range text
)
returns boolean
language sql
immutable
parallel safe
as $$
    select exists (
        select
        from pg_catalog.regexp_split_to_table(_in_range.range, '\s*\|\|\s*') as alternative
        where (
            select bool_and(
                (bound.lower_key is null or _in_range.release_key >= bound.lower_key collate "C")
                and (bound.upper_key is null or _in_range.release_key < bound.upper_key collate "C")
            )
            from pg_catalog.regexp_split_to_table(
                pg_catalog.regexp_replace(btrim(alternative), '([\^~<>=]+)\s+', '\1', 'g'),
                '\s+'
            ) as comparator
            cross join lateral pgrag._range_bounds(comparator) as bound
        )
    );
$$;

-- Lower bound inclusive, upper bound exclusive. A key ends in "~" where it is a release, so a key
-- cut before that sign is the least of its version, pre-releases included.
create or replace function pgrag._range_bounds(
    comparator text,
    out lower_key text,
    out upper_key text
)
returns record
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    operator text := coalesce(substring(comparator from '^[\^~<>=]+'), '');
    label text := substring(comparator from '^[\^~<>=]*v?(.*)$');
    core text := substring(label from '^[^+-]*');
    numbers bigint[] := array(
        select n::bigint
        from unnest(string_to_array(core, '.')) with ordinality as part (n, place)
        where n ~ '^\d{1,9}$'
        order by place
    );
    given integer := coalesce(cardinality(numbers), 0);
    full_key text;
    next_key text;
    fixed integer;
begin
    if given = 0 then
        return;
    end if;
    full_key := case
        when label ~ '-' then pgrag.release_key(label)
        else pgrag._core_key(numbers) || case when given = 3 then '~' else '' end
    end;
    fixed := case
        when operator = '^' then coalesce(
            (select min(place) from generate_series(1, given) as place where numbers[place] > 0),
            given
        )
        when operator = '~' then least(given, 2)
        else given
    end;
    next_key := pgrag._core_key(
        array(
            select case when place = fixed then numbers[place] + 1 else numbers[place] end
            from generate_series(1, fixed) as place
        )
    );
    if operator in ('^', '~', '', '=') then
        lower_key := full_key;
        upper_key := case
            when operator in ('', '=') and given = 3 then full_key || ' '
            else next_key
        end;
    elsif operator = '>=' then
        lower_key := full_key;
    elsif operator = '>' then
        lower_key := case when given = 3 then full_key || ' ' else next_key end;
    elsif operator = '<' then
        upper_key := full_key;
    elsif operator = '<=' then
        upper_key := case when given = 3 then full_key || ' ' else next_key end;
    else
        raise exception 'The version range % cannot be read.', quote_literal(comparator)
            using errcode = 'PGR01', hint = 'Write ^1.2, ~1.2, 1.x, >=2 <3 or 1.2 || 2.x.';
    end if;
end;
$$;

create or replace function pgrag._core_key(
    numbers bigint[]
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.string_agg(
        pg_catalog.lpad(coalesce(_core_key.numbers[place], 0)::text, 10, '0'),
        '.'
        order by place
    )
    from pg_catalog.generate_series(1, 3) as place;
$$;

-- An exact label, for what writes.
create or replace function pgrag._version_id(
    library_id bigint,
    label text
)
returns bigint
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    found_id bigint;
begin
    select v.version_id
    into found_id
    from pgrag.versions as v
    where v.library_id = _version_id.library_id
        and v.label = lower(btrim(coalesce(_version_id.label, '')));
    if found_id is null then
        raise exception 'There is no version %.', quote_nullable(_version_id.label)
            using errcode = 'PGR03',
                hint = coalesce(
                    (
                        select 'The library has: ' || string_agg(
                            coalesce(nullif(v.label, ''), '(unversioned)'), ', ' order by v.label
                        ) || '.'
                        from pgrag.versions as v
                        where v.library_id = _version_id.library_id
                    ),
                    'The library has no version yet.'
                );
    end if;
    return found_id;
end;
$$;
