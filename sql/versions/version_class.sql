-- Only labels that read as versions are ordered; a tag is matched exactly and never coerced.
create or replace function pgrag.version_class(
    label text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when version_class.label = '' then 'unversioned'
        when version_class.label
            ~ '^v?\d{1,9}\.\d{1,9}\.\d{1,9}(-[0-9a-z-]+(\.[0-9a-z-]+)*)?(\+[0-9a-z.-]+)?$'
        then 'semver'
        when version_class.label ~ '^v?\d{1,9}(\.\d{1,9})?(\.x)?$' then 'partial'
        else 'tag'
    end;
$$;

comment on function pgrag.version_class is
'The class of a version label: semver (1.2.3, v1.2.3-beta.1), partial (3, v3.1, 3.x), unversioned
(the empty label) or tag (anything else: stable, next, 1.20-beta).';
