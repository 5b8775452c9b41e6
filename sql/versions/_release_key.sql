-- Numbers padded to ten digits sort as text like numbers. "~" sorts after "-", so a release follows
-- its pre-releases; a numeric identifier precedes an alphanumeric one (semver 11).
create or replace function _pgrag.release_key(
    label text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when _pgrag.version_class(release_key.label) in ('semver', 'partial')
        then _pgrag.core_key(
            pg_catalog.array_remove(
                pg_catalog.string_to_array(
                    pg_catalog.split_part(
                        pg_catalog.split_part(plain.label, '+', 1), '-', 1
                    ),
                    '.'
                ),
                'x'
            )::bigint[]
        ) || coalesce(
            (
                select '-' || pg_catalog.string_agg(
                    case
                        when identifier.name ~ '^\d+$'
                        then '0' || pg_catalog.lpad(identifier.name, 10, '0')
                        else '1' || identifier.name
                    end,
                    ' '
                    order by identifier.nth
                )
                from pg_catalog.unnest(
                    pg_catalog.string_to_array(
                        substring(plain.label from '^[^+-]*-([^+]+)'), '.'
                    )
                ) with ordinality as identifier (name, nth)
            ),
            '~'
        )
    end
    from (select _pgrag.plain_version(release_key.label) as label) as plain;
$$;
