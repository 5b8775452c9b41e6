-- Only what reads as a version is ordered as one; a tag is matched exactly and never coerced.
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

comment on function pgrag.version_class(text) is
'The class of a version label: semver (1.2.3, v1.2.3-beta.1), partial (3, v3.1, 3.x), unversioned
(the empty label) or tag (anything else: stable, next, 1.20-beta).';

-- Numbers padded to ten digits compare as text as they do as numbers. "~" sorts after "-", so a
-- release follows its pre-releases; a numeric identifier precedes an alphanumeric one (semver 11).
create or replace function pgrag.release_key(
    label text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when pgrag.version_class(release_key.label) in ('semver', 'partial')
        then (
            select
                pg_catalog.string_agg(
                    pg_catalog.lpad(coalesce(nullif(core.numbers[place], 'x'), '0'), 10, '0'),
                    '.'
                    order by place
                )
                || coalesce(
                    (
                        select '-' || pg_catalog.string_agg(
                            case
                                when identifier.name ~ '^\d+$'
                                then '0' || pg_catalog.lpad(identifier.name, 10, '0')
                                else '1' || identifier.name
                            end,
                            ' '
                            order by identifier.place
                        )
                        from pg_catalog.unnest(
                            pg_catalog.string_to_array(
                                substring(release_key.label from '^[^+-]*-([^+]+)'),
                                '.'
                            )
                        ) with ordinality as identifier (name, place)
                    ),
                    '~'
                )
            from (
                select pg_catalog.string_to_array(
                    pg_catalog.ltrim(substring(release_key.label from '^[^+-]*'), 'v'),
                    '.'
                ) as numbers
            ) as core
            cross join pg_catalog.generate_series(1, 3) as place
        )
    end;
$$;

comment on function pgrag.release_key(text) is
'A text that sorts (collate "C") as the versions do by semver precedence; null for tags and the
unversioned label. Missing numbers and x count as 0.';
