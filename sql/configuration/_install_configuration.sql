-- Installs the configuration that a release ships, keeping what a user has changed or removed.
create or replace function _pgrag.install_configuration(
    entries jsonb
)
returns table (
    section text,
    name text,
    change text
)
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    shipped jsonb;
    changes jsonb;
begin
    -- Serialises writers; readers are not blocked.
    lock table pgrag.configuration_versions in share row exclusive mode;
    select v.configuration
    into shipped
    from pgrag.configuration_versions as v
    where v.origin = 'package'
    order by v.version_id desc
    limit 1;
    if shipped is not distinct from install_configuration.entries then
        return;
    end if;

    -- Only entries that are still as shipped are updated; changes by a user stay.
    select coalesce(jsonb_agg(to_jsonb(c)), '[]')
    into changes
    from pgrag.compare_configuration(
        (
            select coalesce(jsonb_object_agg(s, '{}'::jsonb), '{}')
            from jsonb_object_keys(shipped) as s
        ) || install_configuration.entries,
        exact => true
    ) as c
    left join _pgrag.configuration_entries(shipped) as e
        on e.section = c.section and e.name = c.name
    where c.before is not distinct from e.entry;
    perform _pgrag.write_configuration(changes);
    insert into pgrag.configuration_versions (origin, note, configuration)
    values ('package', 'shipped', install_configuration.entries);
    return query
    select c.section, c.name, c.change
    from jsonb_to_recordset(changes) as c (section text, name text, change text);
end;
$$;

create or replace function _pgrag.configuration_entries(
    configuration jsonb
)
returns table (
    section text,
    name text,
    entry jsonb
)
language sql
immutable
parallel safe
as $$
    select s.key, e.key, _pgrag.whole_entry(s.key, e.value)
    from jsonb_each(configuration_entries.configuration) as s
    cross join lateral jsonb_each(s.value) as e;
$$;
