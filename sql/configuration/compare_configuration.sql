create or replace function pgrag.compare_configuration(
    entries jsonb,
    exact boolean default false
)
returns table (
    section text,
    name text,
    change text,
    before jsonb,
    after jsonb
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
begin
    perform _pgrag.check_configuration(compare_configuration.entries);
    return query
    select
        coalesce(w.section, p.section),
        coalesce(w.name, p.name),
        case
            when p.entry is null then 'add'
            when w.entry is null then 'remove'
            else 'change'
        end,
        p.entry,
        w.entry
    from _pgrag.configuration_entries(compare_configuration.entries) as w
    full join (
        select e.*
        from _pgrag.configuration_entries(pgrag.configuration()) as e
        where compare_configuration.entries ? e.section
    ) as p on p.section = w.section and p.name = w.name
    where w.entry is distinct from p.entry
        and (w.section is not null or compare_configuration.exact)
    order by 1, 2;
end;
$$;

comment on function pgrag.compare_configuration is
'The changes that apply_configuration would make, one row per entry: section, name, change (add,
change, remove) and the entry before and after. An entry that is null is removed; with exact, so is
every entry that a given section does not name. Errors: PGR01, naming section, entry and field.';
