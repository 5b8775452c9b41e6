-- Refuses what cannot be used and says where it stands: section/name/field. Whoever reads the
-- document from a file can add the line.
create or replace function pgrag._check_configuration(
    configuration jsonb
)
returns void
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    complaint record;
    rule record;
begin
    if jsonb_typeof(configuration) is distinct from 'object' then
        raise exception 'A configuration must be an object of sections.'
            using errcode = 'PGR01', hint = pgrag._configuration_sections();
    end if;
    select c.place, c.problem, c.hint
    into complaint
    from pgrag._configuration_complaints(configuration) as c
    order by c.place
    limit 1;
    if complaint.place is not null then
        raise exception '%: %', left(complaint.place, 200), left(complaint.problem, 500)
            using errcode = 'PGR01', hint = coalesce(complaint.hint, '');
    end if;
    for rule in
        select r.key as name, r.value ->> 'pattern' as pattern
        from jsonb_each(configuration -> 'rules') as r
        where r.value ->> 'pattern' is not null
    loop
        begin
            perform '' ~* rule.pattern;
        exception when invalid_regular_expression then
            raise exception 'rules/%/pattern: %', rule.name, sqlerrm
                using errcode = 'PGR01', hint = 'Write a regular expression of PostgreSQL.';
        end;
    end loop;
    for rule in
        select t.key as name, f.glob
        from jsonb_each(configuration -> 'page_types') as t
        cross join lateral jsonb_array_elements_text(
            case when jsonb_typeof(t.value -> 'folders') = 'array' then t.value -> 'folders' end
        ) as f (glob)
    loop
        begin
            perform '' ~ pgrag._glob_expression(rule.glob);
        exception when invalid_regular_expression then
            raise exception 'page_types/%/folders: % is no pattern.', rule.name,
                quote_literal(rule.glob)
                using errcode = 'PGR01', hint = 'Write, say, guides, notes/**/*.md or [a-c]*.';
        end;
    end loop;
end;
$$;

create or replace function pgrag._configuration_sections()
returns text
language sql
immutable
parallel safe
as $$
    select 'Sections: query_types, intents, rules, synonyms, page_types, edge_kinds, templates.';
$$;

create or replace function pgrag._configuration_complaints(
    configuration jsonb
)
returns table (
    place text,
    problem text,
    hint text
)
language sql
stable
parallel safe
set search_path from current
as $$
    with sections as (
        select s.key as section, s.value as entries, f.fields, f.name_form, f.naming
        from jsonb_each(_configuration_complaints.configuration) as s
        left join (values
            (
                'query_types', '{description, levels, alpha_offset, hierarchy}'::text[],
                '^[a-z][a-z0-9_]{0,49}$', 'small letters, digits and _'
            ),
            (
                'intents',
                '{description, unit, aggregate, levels, alpha, hierarchy, query_type, template, '
                'inject_types}',
                '^[A-Z][A-Z0-9_]{0,49}$', 'capital letters, digits and _'
            ),
            (
                'rules', '{language, words, pattern, shape, intent, query_type, confidence}',
                '^[a-z0-9][a-z0-9-]{0,79}$', 'small letters, digits and -'
            ),
            (
                'page_types',
                '{description, folders, chunk_profile, edge_defaults, retriever_weight, link_keys, '
                'inject}',
                '^[a-z0-9][a-z0-9_-]{0,49}$', 'small letters, digits, _ and -'
            ),
            (
                'edge_kinds', '{description, weight}',
                '^[a-z][a-z0-9_]{0,49}$', 'small letters, digits and _'
            ),
            (
                'templates', '{description, system, prompt}',
                '^[a-z][a-z0-9_-]{0,49}$', 'small letters, digits, _ and -'
            ),
            ('synonyms', null, '', '')
        ) as f (section, fields, name_form, naming) on f.section = s.key
    ),
    entries as (
        select
            s.section, e.key as name, e.value as entry, s.fields, s.name_form, s.naming,
            s.section || '/' || e.key as place
        from sections as s
        cross join lateral jsonb_each(
            case when jsonb_typeof(s.entries) = 'object' then s.entries else '{}' end
        ) as e
        where s.name_form is not null
    ),
    fields as (
        select
            e.section, e.name, e.fields, f.key as field, f.value,
            e.place || '/' || f.key as place
        from entries as e
        cross join lateral jsonb_each(
            case when jsonb_typeof(e.entry) = 'object' then e.entry else '{}' end
        ) as f
        where e.section <> 'synonyms'
    )
    select
        s.section, 'there is no such section.', pgrag._configuration_sections()
    from sections as s
    where s.name_form is null
    union all
    select s.section, 'must be an object of entries by name.', null
    from sections as s
    where jsonb_typeof(s.entries) <> 'object' and s.name_form is not null
    union all
    select e.place, 'must be an object, or null to remove it.', null
    from entries as e
    where jsonb_typeof(e.entry) not in ('object', 'null')
    union all
    select e.place, 'the name must be of ' || e.naming || '.', null
    from entries as e
    where e.name !~ e.name_form
    union all
    select
        f.place, 'there is no such field.',
        'Fields: ' || array_to_string(f.fields, ', ') || '.'
    from fields as f
    where f.field <> all (f.fields)
    union all
    select f.place, format('must be %s, got %s.', w.wanted, left(f.value::text, 100)), null
    from fields as f
    join (values
        ('description', 'a text'),
        ('levels', 'a list of 0, 1 and 2'),
        ('alpha', 'a number from 0 to 1'),
        ('alpha_offset', 'a number from -1 to 1'),
        ('confidence', 'a number from 0 to 1'),
        ('unit', 'document or page'),
        ('aggregate', 'max, mean or rrf'),
        ('hierarchy', 'none, depth, breadth or overview'),
        ('language', 'any, de, en or ru'),
        ('words', 'a list of phrases without "|"'),
        ('pattern', 'a regular expression'),
        ('shape', 'filters, quoted, identifier, path or name'),
        ('intent', 'the name of an intent'),
        ('query_type', 'the name of a query type'),
        ('folders', 'a list of folders or patterns such as notes/**/*.md'),
        ('chunk_profile', 'by_heading, by_meaning, short, medium or long'),
        ('edge_defaults', 'a list of names of kinds, such as part_of'),
        ('retriever_weight', 'a number from 0 to 10'),
        ('weight', 'a number from 0 to 10'),
        ('link_keys', 'a list of front matter keys'),
        ('inject', 'a list of front matter keys'),
        ('template', 'the name of a template'),
        ('inject_types', 'a list of types of pages'),
        ('system', 'a text'),
        ('prompt', 'a text with {question} and {sources}, or with {default}')
    ) as w (field, wanted) on w.field = f.field
    where jsonb_typeof(f.value) <> 'null' and not pgrag._is_fit(f.field, f.value)
    union all
    select e.place, 'needs one of words, pattern and shape.', null
    from entries as e
    where e.section = 'rules'
        and jsonb_typeof(e.entry) = 'object'
        and num_nonnulls(e.entry ->> 'words', e.entry ->> 'pattern', e.entry ->> 'shape') <> 1
    union all
    select e.place, 'needs an intent or a query type.', null
    from entries as e
    where e.section = 'rules'
        and jsonb_typeof(e.entry) = 'object'
        and num_nonnulls(e.entry ->> 'intent', e.entry ->> 'query_type') = 0
    union all
    select e.place, 'needs system and prompt.', null
    from entries as e
    where e.section = 'templates'
        and jsonb_typeof(e.entry) = 'object'
        and num_nulls(e.entry ->> 'system', e.entry ->> 'prompt') > 0
    union all
    select e.place, '{default} is what this template says, and stands in others only.', null
    from entries as e
    where e.place = 'templates/default'
        and concat(e.entry ->> 'system', e.entry ->> 'prompt') like '%{default}%'
    union all
    -- What they take of a model's window is counted once.
    select e.place || '/prompt', 'says the sources more than once.', null
    from entries as e
    where e.section = 'templates'
        and (
            select count(*) > 1
            from regexp_matches(e.entry ->> 'prompt', '\{sources\}|\{default\}', 'g')
        )
    union all
    select e.place || '/' || c.place, c.problem, c.hint
    from entries as e
    cross join lateral pgrag._synonym_complaints(e.entry) as c
    where e.section = 'synonyms';
$$;

-- Of the synonyms of one library; places begin with the term.
create or replace function pgrag._synonym_complaints(
    synonyms jsonb
)
returns table (
    place text,
    problem text,
    hint text
)
language sql
immutable
parallel safe
set search_path from current
as $$
    with terms as (
        select
            t.key as term,
            case
                when jsonb_typeof(t.value) = 'array'
                then jsonb_build_object('expansions', t.value)
                else t.value
            end as entry
        from jsonb_each(
            case when jsonb_typeof(synonyms) = 'object' then synonyms else '{}' end
        ) as t
    )
    select t.term, 'must be a list of synonyms, or an object with expansions.', null
    from terms as t
    where jsonb_typeof(t.entry) not in ('object', 'null')
    union all
    select t.term, 'the term has no word.', null
    from terms as t
    where t.term !~ '\w'
    union all
    select t.term || '/expansions', 'must be a list of words or phrases.', null
    from terms as t
    where jsonb_typeof(t.entry) = 'object'
        and not pgrag._is_fit('words', coalesce(t.entry -> 'expansions', 'null'))
    union all
    select t.term || '/' || f.key, 'there is no such field.', 'Fields: expansions, weight, mutual.'
    from terms as t
    cross join lateral jsonb_each(
        case when jsonb_typeof(t.entry) = 'object' then t.entry else '{}' end
    ) as f
    where f.key not in ('expansions', 'weight', 'mutual')
    union all
    select
        t.term || '/' || f.key,
        format(
            'must be %s, got %s.',
            case f.key when 'weight' then 'above 0, at most 1' else 'true or false' end,
            left(f.value::text, 100)
        ),
        null
    from terms as t
    cross join lateral jsonb_each(
        case when jsonb_typeof(t.entry) = 'object' then t.entry else '{}' end
    ) as f
    where f.key in ('weight', 'mutual')
        and not pgrag._is_fit(
            case f.key when 'weight' then 'synonym_weight' else f.key end, f.value
        );
$$;
