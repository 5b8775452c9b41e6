-- All or nothing, in one transaction. The resulting state is stored as a version.
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
    -- Serialises writers; readers are not blocked.
    lock table pgrag.configuration_versions in share row exclusive mode;
    select coalesce(jsonb_agg(to_jsonb(c)), '[]')
    into changes
    from pgrag.compare_configuration(
        apply_configuration.entries, coalesce(apply_configuration.exact, false)
    ) as c;
    if changes <> '[]' then
        perform _pgrag.write_configuration(changes);
        insert into pgrag.configuration_versions (origin, note, configuration)
        values ('user', coalesce(apply_configuration.note, ''), pgrag.configuration());
    end if;
    return query
    select c.section, c.name, c.change, nullif(c.before, 'null'), nullif(c.after, 'null')
    from jsonb_to_recordset(changes)
        as c (section text, name text, change text, before jsonb, after jsonb);
end;
$$;

comment on function pgrag.apply_configuration is
'Writes entries of a configuration (see configuration) and stores the resulting state as a version
with the note. Entries not named stay unchanged; an entry that is null is removed; with exact, a
given section is replaced as a whole. Returns the changes, as compare_configuration does. Errors:
PGR01, naming section, entry and field, and PGR02.';

create or replace function _pgrag.write_configuration(
    changes jsonb
)
returns void
language plpgsql
volatile
as $$
declare
    section text;
    table_name text;
    orphan record;
begin
    foreach section in array '{query_types, templates, intents, page_types, edge_kinds}'::text[]
    loop
        table_name := case section when 'templates' then 'answer_templates' else section end;
        execute format(
            'delete from pgrag.%I as t using jsonb_array_elements($1) as c'
            ' where c ->> ''section'' = $2 and t.name = c ->> ''name''',
            table_name
        ) using changes, section;
        execute format(
            'insert into pgrag.%1$I'
            ' select e.*'
            ' from jsonb_array_elements($1) as c'
            ' cross join lateral jsonb_populate_record('
            '     null::pgrag.%1$I,'
            '     c -> ''after'' || jsonb_build_object('
            '         ''name'', c -> ''name'','
            '         ''arguments'', coalesce(('
            '             select jsonb_object_agg(f.key, f.value)'
            '             from jsonb_each(jsonb_strip_nulls(c -> ''after'')) as f'
            '             where f.key = any (_pgrag.strategy_arguments())'
            '         ), ''{}'')'
            '     )'
            ' ) as e'
            ' where c ->> ''section'' = $2 and jsonb_typeof(c -> ''after'') = ''object''',
            table_name
        ) using changes, section;
    end loop;

    delete from pgrag.intent_rules as r
    using jsonb_array_elements(changes) as c
    where c ->> 'section' = 'rules' and r.name = c ->> 'name';
    insert into pgrag.intent_rules (
        name, language, kind, pattern, intent, query_type, confidence, required_parts, required_by
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
                select string_agg(btrim(w.phrase), ' | ' order by w.entry)
                from jsonb_array_elements_text(c.after -> 'words')
                    with ordinality as w (phrase, entry)
            )
            else coalesce(c.after ->> 'pattern', c.after ->> 'shape')
        end,
        c.after ->> 'intent',
        c.after ->> 'query_type',
        (c.after ->> 'confidence')::double precision,
        required.parts,
        case when required.parts <> '{}' then hashtextextended(c.after ->> 'pattern', 0) end
    from jsonb_to_recordset(changes) as c (section text, name text, after jsonb)
    cross join lateral (
        select _pgrag.required_parts(c.after ->> 'pattern') as parts
    ) as required
    where c.section = 'rules' and jsonb_typeof(c.after) = 'object';

    perform _pgrag.lock_library(l.name)
    from pgrag.libraries as l
    where l.library_id = any (
        array(
            select _pgrag.library_id(c ->> 'name')
            from jsonb_array_elements(changes) as c
            where c ->> 'section' = 'synonyms'
        )
    )
    order by l.library_id;
    -- Replaces all synonyms of a library by those of its entry; null removes them.
    delete from pgrag.synonyms as s
    using jsonb_array_elements(changes) as c
    where c ->> 'section' = 'synonyms' and s.library_id = _pgrag.library_id(c ->> 'name');
    perform _pgrag.insert_synonyms(_pgrag.library_id(c ->> 'name'), c -> 'after')
    from jsonb_array_elements(changes) as c
    where c ->> 'section' = 'synonyms';

    for orphan in
        select 'rules/' || r.name || '/intent' as entry, 'intent' as kind, r.intent as missing
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
        -- Other templates include its text, and it applies if no template is named.
        select 'templates', 'template', 'default'
        from pgrag.answer_templates as t
        having count(*) > 0 and not coalesce(bool_or(t.name = 'default'), false)
        order by entry
    loop
        raise exception '%: there is no % %.', orphan.entry, orphan.kind,
            quote_literal(orphan.missing)
            using errcode = 'PGR01', hint = 'Add it in the same file, or name one that exists.';
    end loop;
end;
$$;
