-- Only labels that read as versions are ordered; a tag is matched exactly and never coerced.
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
        when version_class.label
            ~ '^v?\d{1,9}\.\d{1,9}\.\d{1,9}(-[0-9a-z-]+(\.[0-9a-z-]+)*)?(\+[0-9a-z.-]+)?$'
        then 'semver'
        when version_class.label ~ '^v?\d{1,9}(\.\d{1,9})?(\.x)?$' then 'partial'
        else 'tag'
    end;
$$;
