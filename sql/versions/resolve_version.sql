-- Never substitutes a version silently: every result states its reason.
create or replace function pgrag.resolve_version(
    library text,
    wanted text default null,
    query text default null,
    dependencies jsonb default null
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
    owner_id constant bigint := _pgrag.library_id(resolve_version.library);
    resolved record;
    pinned record;
    named record;
    note text;
begin
    select (r.version).label, (r.version).version_id, r.reason
    into resolved
    from _pgrag.resolved_version(owner_id, resolve_version.wanted) as r;
    if resolve_version.wanted is null
        and coalesce(resolve_version.query, resolve_version.dependencies::text) is not null
    then
        pinned := _pgrag.with_pinned_versions(
            resolve_version.dependencies, array[resolved.version_id], array[resolved.reason]
        );
        named := _pgrag.with_named_versions(
            coalesce(resolve_version.query, ''), pinned.version_ids, pinned.version_reasons
        );
        foreach note in array named.notes loop
            raise notice '%', note;
        end loop;
        select v.label, v.version_id, named.version_reasons[1] as reason
        into resolved
        from pgrag.versions as v
        where v.library_id = owner_id and v.version_id = named.version_ids[1];
    end if;
    return query select resolved.label, resolved.version_id, resolved.reason;
end;
$$;

comment on function pgrag.resolve_version is
'Resolves a requested version of a library to one version, with the reason: an exact label; a range
(^1.2, ~1.2, 1.x, 1.2, >=2 <3, 1.2 || 2.x: the newest version in it); null, empty or "latest" (the
newest release, a pre-release only if there is nothing else); a version that is not indexed (of the
same minor the newest before it, else the nearest above; else so of the same major; else the newest
before it, of an older major); else the unversioned documentation. Only its label means a
pre-release: the reason, or the error, names those that there are of what is asked for. A leading
"v" or "release-" says nothing. version is empty for unversioned. query: the
words of a search, whose version counts if wanted is null (see search); without one, the version
that the dependencies of a project pin (see pinned_versions). Errors: PGR02 with the
nearest names, PGR03 with the versions that exist.';

create or replace function _pgrag.resolved_version(
    library_id bigint,
    wanted text
)
returns table (
    version pgrag.versions,
    reason text
)
language plpgsql
stable
parallel safe
rows 1
as $$
declare
    owner_id constant bigint := resolved_version.library_id;
    wish constant text := lower(btrim(coalesce(resolved_version.wanted, '')));
begin
    if resolved_version.wanted is not null then
        return query
        select v, 'exact'
            || case when v.status = 'ready' then '' else ' (its indexing is not finished)' end
        from pgrag.versions as v
        where v.library_id = owner_id and v.label = wish;
        if found then
            return;
        end if;
    end if;

    if wish in ('', 'latest') then
        return query select n.* from _pgrag.newest_version(owner_id) as n;
    else
        return query select f.version, f.reason from _pgrag.fitting_version(owner_id, wish) as f;
    end if;
    if not found then
        raise exception 'Library % has no version that fits %.',
            quote_literal((select l.name from pgrag.libraries as l where l.library_id = owner_id)),
            quote_literal(wish)
            using errcode = 'PGR03',
                hint = concat_ws(
                    ' ',
                    'I' || substr(_pgrag.prereleases_of(owner_id, wish), 2) || '.',
                    _pgrag.version_hint(owner_id, wish)
                );
    end if;
end;
$$;

-- Inlined into searches, which mostly ask for no other version.
create or replace function _pgrag.newest_version(
    library_id bigint
)
returns table (
    version pgrag.versions,
    reason text
)
language sql
stable
parallel safe
rows 1
as $$
    select
        v,
        case
            when v.class = 'unversioned' then 'the library has no versions'
            when v.release_key is null then 'the newest tag; there is no release'
            when v.prerelease then 'the newest pre-release; there is no release'
            else 'the newest release'
        end || case when v.status = 'ready' then '' else ' (its indexing is not finished)' end
    from pgrag.versions as v
    where v.library_id = newest_version.library_id
    order by
        v.status = 'ready' desc,
        v.release_key is not null desc,
        v.prerelease, v.release_key desc,
        v.class = 'unversioned' desc,
        v.created_at desc, v.version_id desc
    limit 1;
$$;

-- The common subset of node-semver's grammar: alternatives by ||, comparators by spaces.
create or replace function _pgrag.in_range(
    release_key text,
    range text
)
returns boolean
language sql
immutable
parallel safe
as $$
    select exists (
        select from pg_catalog.regexp_split_to_table(in_range.range, '\s*\|\|\s*') as alternative
        where (
            select bool_and(
                (bound.lower_key is null or in_range.release_key >= bound.lower_key collate "C")
                and (bound.upper_key is null or in_range.release_key < bound.upper_key collate "C")
            )
            from pg_catalog.regexp_split_to_table(
                pg_catalog.regexp_replace(btrim(alternative), '([\^~<>=]+)\s+', '\1', 'g'),
                '\s+'
            ) as comparator
            cross join lateral _pgrag.range_bounds(comparator) as bound
        )
    );
$$;

-- Lower bound inclusive, upper bound exclusive. The key of a release ends in "~"; without the "~"
-- it sorts before the whole version, pre-releases included.
create or replace function _pgrag.range_bounds(
    comparator text,
    out lower_key text,
    out upper_key text
)
returns record
language plpgsql
immutable
parallel safe
as $$
declare
    operator text := coalesce(substring(comparator from '^[\^~<>=]+'), '');
    label text := _pgrag.plain_version(substring(comparator from '^[\^~<>=]*(.*)$'));
    numbers bigint[] := array(
        select n::bigint
        from string_to_table(split_part(split_part(label, '+', 1), '-', 1), '.')
            with ordinality as part (n, nth)
        where n ~ '^\d{1,9}$'
        order by nth
    );
    length integer := coalesce(cardinality(numbers), 0);
    full_key text;
    next_key text;
    following_key text;
    fixed integer;
begin
    if length = 0 then
        return;
    end if;
    if operator not in ('^', '~', '', '=', '>=', '>', '<', '<=') then
        raise exception 'The version range % cannot be read.', quote_literal(comparator)
            using errcode = 'PGR01', hint = 'Write ^1.2, ~1.2, 1.x, >=2 <3 or 1.2 || 2.x.';
    end if;
    full_key := case
        when label ~ '-' then _pgrag.release_key(label)
        else _pgrag.core_key(numbers) || case when length >= 3 then '~' else '' end
    end;
    fixed := case
        when operator = '^' then coalesce(
            (select min(nth) from generate_series(1, length) as nth where numbers[nth] > 0),
            length
        )
        when operator = '~' then least(length, 2)
        else length
    end;
    next_key := _pgrag.core_key(numbers[:fixed - 1] || (numbers[fixed] + 1));
    -- The smallest key after every version that the label names.
    following_key := case when length >= 3 then full_key || ' ' else next_key end;
    lower_key := case
        when operator in ('^', '~', '', '=', '>=') then full_key
        when operator = '>' then following_key
    end;
    upper_key := case
        when operator in ('^', '~') then next_key
        when operator in ('', '=', '<=') then following_key
        when operator = '<' then full_key
    end;
end;
$$;

create or replace function _pgrag.core_key(
    numbers bigint[]
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.string_agg(
        pg_catalog.lpad(coalesce(core_key.numbers[nth], 0)::text, 10, '0'),
        '.'
        order by nth
    )
    from pg_catalog.generate_series(1, 4) as nth;
$$;

-- The version with exactly this label, for writers.
create or replace function _pgrag.version_id(
    library_id bigint,
    label text
)
returns bigint
language plpgsql
stable
parallel safe
as $$
declare
    known_id bigint;
begin
    select v.version_id
    into known_id
    from pgrag.versions as v
    where v.library_id = version_id.library_id
        and v.label = lower(btrim(coalesce(version_id.label, '')));
    if known_id is null then
        raise exception 'There is no version %.', quote_nullable(version_id.label)
            using errcode = 'PGR03',
                hint = _pgrag.version_hint(version_id.library_id, version_id.label);
    end if;
    return known_id;
end;
$$;

create or replace function _pgrag.version_hint(
    library_id bigint,
    wish text
)
returns text
language sql
stable
parallel safe
as $$
    select _pgrag.name_hint(
        version_hint.wish,
        array(
            select coalesce(nullif(v.label, ''), '(unversioned)')
            from pgrag.versions as v
            where v.library_id = version_hint.library_id
            order by v.release_key desc nulls last, v.label
        ),
        'It has', 'It has no version yet.'
    );
$$;

-- The version with this label; without a label, all versions of the library.
create or replace function _pgrag.version_ids(
    library_id bigint,
    version text
)
returns bigint[]
language sql
stable
parallel safe
as $$
    select case
        when version_ids.version is not null
        then array[_pgrag.version_id(version_ids.library_id, version_ids.version)]
        else array(
            select v.version_id
            from pgrag.versions as v
            where v.library_id = version_ids.library_id
            order by v.version_id
        )
    end;
$$;
