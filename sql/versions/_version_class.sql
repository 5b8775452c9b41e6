-- Only labels that read as versions are ordered, dates and four numbers too; a tag is matched
-- exactly and never coerced.
create or replace function _pgrag.version_class(
    label text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when version_class.label = '' then 'unversioned'
        when plain.label
            ~ '^\d{1,9}(\.\d{1,9}){2,3}(-[0-9a-z-]+(\.[0-9a-z-]+)*)?(\+[0-9a-z.-]+)?$'
        then 'semver'
        when plain.label ~ '^\d{1,9}(\.\d{1,9})?(\.x)?$' then 'partial'
        else 'tag'
    end
    from (select _pgrag.plain_version(version_class.label) as label) as plain;
$$;

-- A version's label without "v" and the words that name branches and tags (release-1.29,
-- stable/2024.1); a date (2024-06-30) with points.
create or replace function _pgrag.plain_version(
    label text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when bare.label ~ '^\d{4}-\d\d-\d\d$' then pg_catalog.translate(bare.label, '-', '.')
        else bare.label
    end
    from (
        select pg_catalog.regexp_replace(
            plain_version.label, '^((release|rel|version|ver|stable)[-_/. ]?)?v?(?=\d)', ''
        ) as label
    ) as bare;
$$;
