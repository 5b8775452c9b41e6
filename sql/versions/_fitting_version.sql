-- The version that a wish other than "latest" stands for: itself; the newest in its range; the
-- line (27.x, 27.0) that it is a release of; else another in its place, which is_substitute says.
-- The newest version before the wish is of its minor if any before it is: so the order is that of
-- the minor, the nearest above of the minor, that of the major, the nearest above of the major,
-- and that of an older major. A range without a version is replaced only within its major.
create or replace function _pgrag.fitting_version(
    library_id bigint,
    wish text
)
returns table (
    version pgrag.versions,
    reason text,
    is_substitute boolean
)
language plpgsql
stable
parallel safe
rows 1
as $$
declare
    owner_id constant bigint := fitting_version.library_id;
    own_class constant text := _pgrag.version_class(wish);
    is_range constant boolean := own_class = 'partial'
        or (
            wish ~ '^[\^~<>=v\d][\^~<>=v\d.x*|\sa-z-]*$'
            and wish ~ '[\^~<>=*|]|\d\.x|\s'
        );
    -- ^1.2 and ~1.2, as dependencies are written.
    own_key constant text := _pgrag.release_key(
        case
            when own_class = 'tag' and is_range then substring(wish from '^[~^=]\s*(\S+)$')
            else wish
        end
    );
    is_prerelease constant boolean := own_key !~ '~$' or own_class = 'tag' and wish ~ '-';
    prereleases constant text := coalesce('; ' || _pgrag.prereleases_of(owner_id, wish), '');
begin
    return query
    select v, f.reason || case when f.preference > 3 then prereleases else '' end, f.preference > 3
    from pgrag.versions as v
    cross join lateral (
        select
            left(v.release_key, 10) = left(own_key, 10) as is_of_major,
            left(v.release_key, 21) = left(own_key, 21) as is_of_minor,
            v.release_key <= own_key as is_before
    ) as k
    cross join lateral (
        values
            (
                1, 'exact',
                v.label = wish
                    or v.class = 'semver' and own_class = 'semver' and v.release_key = own_key
            ),
            (
                2, 'the newest version in the range ' || wish,
                is_range and v.release_key is not null and _pgrag.in_range(v.release_key, wish)
            ),
            (
                3, format('%s is a release of %s', wish, v.label),
                own_class = 'semver' and v.class = 'partial' and _pgrag.in_range(own_key, v.label)
            ),
            (4, 'the newest version before it', k.is_of_minor and k.is_before),
            (
                5, 'the nearest version above it, of the same minor',
                k.is_of_minor and not k.is_before
            ),
            (6, 'the newest version before it', k.is_of_major and k.is_before),
            (
                7, 'the nearest version above it, of the same major',
                k.is_of_major and not k.is_before
            ),
            (
                8, 'the newest version before it, of an older major',
                own_class <> 'tag' and k.is_before
            ),
            (9, 'the unversioned documentation', v.class = 'unversioned')
    ) as c (preference, rule, fits)
    cross join lateral (
        select
            c.preference,
            case when c.preference > 3 then wish || ' is not indexed; ' else '' end || c.rule
                as reason
    ) as f
    where v.library_id = owner_id
        and (not v.prerelease or is_prerelease or v.label = wish)
        and c.fits
    order by
        f.preference, v.status = 'ready' desc,
        case when f.preference in (5, 7) then v.release_key end,
        v.release_key desc, v.version_id desc
    limit 1;
end;
$$;

-- Which pre-releases there are of a wish of which there is no release; null if there are none.
create or replace function _pgrag.prereleases_of(
    library_id bigint,
    wish text
)
returns text
language sql
stable
parallel safe
as $$
    select 'it has only pre-releases: write ' || v.label || ' for the newest'
    from (
        select _pgrag.release_key(ltrim(prereleases_of.wish, '^~= ')) as wished_key offset 0
    ) as w
    join pgrag.versions as v
        on v.library_id = prereleases_of.library_id
        and v.prerelease
        and w.wished_key like '%~'
        -- Of 28, of 28.1 or of 28.1.0: the numbers that are written.
        and starts_with(
            v.release_key,
            left(
                w.wished_key,
                10 + 11 * regexp_count(split_part(prereleases_of.wish, '.x', 1), '\.')
            )
        )
    order by v.release_key desc
    limit 1;
$$;
