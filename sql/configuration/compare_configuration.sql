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
declare
    complaint record;
    pattern record;
begin
    for complaint in
        select * from _pgrag.configuration_complaints(entries) as c order by c.location
    loop
        raise exception '%', concat_ws(
            ': ', left(complaint.location, 200), left(complaint.problem, 500)
        )
            using errcode = 'PGR01', hint = coalesce(complaint.hint, '');
    end loop;
    for pattern in
        select
            'rules/' || r.key || '/pattern' as location, r.value ->> 'pattern' as expression,
            null as glob, 'Write a regular expression of PostgreSQL.' as hint
        from jsonb_each(entries -> 'rules') as r
        where r.value ->> 'pattern' is not null
        union all
        select
            'page_types/' || t.key || '/folders', _pgrag.glob_expression(f.glob),
            f.glob, 'Write, say, guides, notes/**/*.md or [a-c]*.'
        from jsonb_each(entries -> 'page_types') as t
        cross join lateral jsonb_array_elements_text(
            case when jsonb_typeof(t.value -> 'folders') = 'array' then t.value -> 'folders' end
        ) as f (glob)
    loop
        begin
            perform '' ~* pattern.expression;
        exception when invalid_regular_expression then
            raise exception '%: %', pattern.location,
                coalesce(quote_literal(pattern.glob) || ' is not a pattern.', sqlerrm)
                using errcode = 'PGR01', hint = pattern.hint;
        end;
    end loop;
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
