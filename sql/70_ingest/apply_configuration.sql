-- One transaction: all of it, or nothing. The state that follows is kept as a version.
create or replace function pgrag.apply_configuration(
    entries jsonb,
    exact boolean default false,
    note text default ''
)
returns table (
    section text,
    name text,
    change text,
    before jsonb,
    after jsonb
)
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    changes jsonb;
begin
    -- One writer at a time; readers go on.
    lock table pgrag.configuration_versions in share row exclusive mode;
    select coalesce(jsonb_agg(to_jsonb(c)), '[]')
    into changes
    from pgrag.compare_configuration(
        apply_configuration.entries, coalesce(apply_configuration.exact, false)
    ) as c;
    if changes <> '[]' then
        perform pgrag._write_configuration(changes);
        insert into pgrag.configuration_versions (origin, note, configuration)
        values ('user', coalesce(apply_configuration.note, ''), pgrag.configuration());
    end if;
    return query
    select c.section, c.name, c.change, nullif(c.before, 'null'), nullif(c.after, 'null')
    from jsonb_to_recordset(changes)
        as c (section text, name text, change text, before jsonb, after jsonb);
end;
$$;

comment on function pgrag.apply_configuration(jsonb, boolean, text) is
'Writes entries of a configuration (see configuration) and keeps the state that follows as a version
with the note. Entries not named stay as they are; one that is null is removed; with exact, a
section given is all there is of it. Returns what changed, as compare_configuration. Errors: PGR01,
naming section, entry and field, and PGR02.';

create or replace function pgrag.install_configuration(
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
    -- One writer at a time; readers go on.
    lock table pgrag.configuration_versions in share row exclusive mode;
    perform pgrag._check_configuration(install_configuration.entries);
    select v.configuration
    into shipped
    from pgrag.configuration_versions as v
    where v.origin = 'package'
    order by v.version_id desc
    limit 1;
    if shipped is not distinct from install_configuration.entries then
        return;
    end if;

    with earlier as (
        select * from pgrag._configuration_entries(coalesce(shipped, '{}'))
    ),
    present as (
        select * from pgrag._configuration_entries(pgrag.configuration())
    ),
    wanted as (
        select * from pgrag._configuration_entries(install_configuration.entries)
    ),
    -- Untouched is what is as it was shipped; what has been changed or removed since stays so.
    merged as (
        select
            coalesce(w.section, e.section) as section,
            coalesce(w.name, e.name) as name,
            p.entry as before,
            w.entry as after
        from wanted as w
        full join earlier as e on e.section = w.section and e.name = w.name
        left join present as p
            on p.section = coalesce(w.section, e.section) and p.name = coalesce(w.name, e.name)
        where p.entry is not distinct from e.entry
            and p.entry is distinct from w.entry
    )
    select coalesce(
        jsonb_agg(
            jsonb_build_object(
                'section', m.section,
                'name', m.name,
                'change',
                case
                    when m.before is null then 'add'
                    when m.after is null then 'remove'
                    else 'change'
                end,
                'before', m.before,
                'after', m.after
            )
            order by m.section, m.name
        ),
        '[]'
    )
    into changes
    from merged as m;

    perform pgrag._write_configuration(changes);
    insert into pgrag.configuration_versions (origin, note, configuration)
    values ('package', 'shipped', install_configuration.entries);
    return query
    select c.section, c.name, c.change
    from jsonb_to_recordset(changes) as c (section text, name text, change text);
end;
$$;

comment on function pgrag.install_configuration(jsonb) is
'Brings the configuration that a release ships: entries are added, changed and removed as the
release before it and this one differ, except those that somebody has changed or removed since,
which stay as they are. Does nothing when it is installed already. Errors: PGR01.';

create or replace function pgrag._configuration_entries(
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
set search_path from current
as $$
    select s.key, e.key, pgrag._whole_entry(s.key, e.value)
    from jsonb_each(_configuration_entries.configuration) as s
    cross join lateral jsonb_each(s.value) as e;
$$;

create or replace function pgrag._write_configuration(
    changes jsonb
)
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    orphan record;
begin
    delete from pgrag.intent_rules as r
    using jsonb_array_elements(changes) as c
    where c ->> 'section' = 'rules' and r.name = c ->> 'name';
    delete from pgrag.intents as i
    using jsonb_array_elements(changes) as c
    where c ->> 'section' = 'intents' and i.name = c ->> 'name';
    delete from pgrag.answer_templates as t
    using jsonb_array_elements(changes) as c
    where c ->> 'section' = 'templates' and t.name = c ->> 'name';
    delete from pgrag.query_types as t
    using jsonb_array_elements(changes) as c
    where c ->> 'section' = 'query_types' and t.name = c ->> 'name';

    delete from pgrag.page_types as t
    using jsonb_array_elements(changes) as c
    where c ->> 'section' = 'page_types' and t.name = c ->> 'name';
    delete from pgrag.edge_kinds as k
    using jsonb_array_elements(changes) as c
    where c ->> 'section' = 'edge_kinds' and k.name = c ->> 'name';

    insert into pgrag.query_types (name, description, levels, alpha_offset, hierarchy)
    select
        c.name,
        e.description,
        array(select l::integer from jsonb_array_elements_text(c.after -> 'levels') as l),
        e.alpha_offset,
        e.hierarchy
    from pgrag._written_entries(changes, 'query_types') as c
    cross join lateral jsonb_populate_record(null::pgrag.query_types, c.after - 'levels') as e;

    insert into pgrag.answer_templates (name, description, system, prompt)
    select c.name, c.after ->> 'description', c.after ->> 'system', c.after ->> 'prompt'
    from pgrag._written_entries(changes, 'templates') as c;

    insert into pgrag.intents (
        name, description, unit, aggregate, levels, alpha, hierarchy, query_type, template,
        inject_types
    )
    select
        c.name, e.description, e.unit, e.aggregate, e.levels, e.alpha, e.hierarchy, e.query_type,
        e.template, e.inject_types
    from pgrag._written_entries(changes, 'intents') as c
    cross join lateral (
        select
            i.description, i.unit, i.aggregate, i.alpha, i.hierarchy, i.query_type, i.template,
            pgrag._integers(c.after -> 'levels') as levels,
            array(select jsonb_array_elements_text(c.after -> 'inject_types')) as inject_types
        from jsonb_populate_record(
            null::pgrag.intents, c.after - '{levels, inject_types}'::text[]
        ) as i
    ) as e;

    insert into pgrag.intent_rules (
        name, language, kind, pattern, intent, query_type, confidence
    )
    select
        c.name,
        c.after ->> 'language',
        case
            when c.after ? 'words' then 'words'
            when c.after ? 'pattern' then 'pattern'
            else 'shape'
        end,
        case
            when c.after ? 'words'
            then (
                select string_agg(btrim(w.phrase), ' | ' order by w.place)
                from jsonb_array_elements_text(c.after -> 'words')
                    with ordinality as w (phrase, place)
            )
            else coalesce(c.after ->> 'pattern', c.after ->> 'shape')
        end,
        c.after ->> 'intent',
        c.after ->> 'query_type',
        (c.after ->> 'confidence')::double precision
    from pgrag._written_entries(changes, 'rules') as c;

    insert into pgrag.page_types (
        name, description, folders, chunk_profile, edge_defaults, retriever_weight, link_keys,
        inject
    )
    select
        c.name,
        c.after ->> 'description',
        array(select jsonb_array_elements_text(c.after -> 'folders')),
        c.after ->> 'chunk_profile',
        array(select jsonb_array_elements_text(c.after -> 'edge_defaults')),
        (c.after ->> 'retriever_weight')::double precision,
        array(select jsonb_array_elements_text(c.after -> 'link_keys')),
        array(select jsonb_array_elements_text(c.after -> 'inject'))
    from pgrag._written_entries(changes, 'page_types') as c;

    insert into pgrag.edge_kinds (name, description, weight)
    select c.name, c.after ->> 'description', (c.after ->> 'weight')::double precision
    from pgrag._written_entries(changes, 'edge_kinds') as c;

    perform pgrag._write_synonyms(pgrag._library_id(c ->> 'name'), c -> 'after')
    from jsonb_array_elements(changes) as c
    where c ->> 'section' = 'synonyms';

    select o.place, o.kind, o.missing
    into orphan
    from (
        select 'rules/' || r.name || '/intent' as place, 'intent' as kind, r.intent as missing
        from pgrag.intent_rules as r
        where r.intent not in (select i.name from pgrag.intents as i)
        union all
        select 'rules/' || r.name || '/query_type', 'query type', r.query_type
        from pgrag.intent_rules as r
        where r.query_type not in (select t.name from pgrag.query_types as t)
        union all
        select 'intents/' || i.name || '/query_type', 'query type', i.query_type
        from pgrag.intents as i
        where i.query_type not in (select t.name from pgrag.query_types as t)
        union all
        select 'intents/' || i.name || '/template', 'template', i.template
        from pgrag.intents as i
        where i.template not in (select t.name from pgrag.answer_templates as t)
        union all
        -- The others take over its text, and who names none has it.
        select 'templates', 'template', 'default'
        from pgrag.answer_templates as t
        having count(*) > 0 and not coalesce(bool_or(t.name = 'default'), false)
    ) as o
    order by o.place
    limit 1;
    if orphan.place is not null then
        raise exception '%: there is no % %.', orphan.place, orphan.kind,
            quote_literal(orphan.missing)
            using errcode = 'PGR01', hint = 'Add it in the same file, or name one that exists.';
    end if;
end;
$$;

create or replace function pgrag._written_entries(
    changes jsonb,
    section text
)
returns table (
    name text,
    after jsonb
)
language sql
immutable
parallel safe
set search_path from current
as $$
    select c ->> 'name', c -> 'after'
    from jsonb_array_elements(_written_entries.changes) as c
    where c ->> 'section' = _written_entries.section and jsonb_typeof(c -> 'after') = 'object';
$$;
