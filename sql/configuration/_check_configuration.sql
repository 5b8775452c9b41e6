-- Refuses an invalid configuration and names the location as section/name/field; a caller that
-- reads the configuration from a file can add the line.
create or replace function _pgrag.check_configuration(
    configuration jsonb
)
returns void
language plpgsql
stable
parallel safe
as $$
declare
    complaint record;
    pattern record;
begin
    for complaint in
        select * from _pgrag.configuration_complaints(configuration) as c order by c.location
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
        from jsonb_each(configuration -> 'rules') as r
        where r.value ->> 'pattern' is not null
        union all
        select
            'page_types/' || t.key || '/folders', _pgrag.glob_expression(f.glob),
            f.glob, 'Write, say, guides, notes/**/*.md or [a-c]*.'
        from jsonb_each(configuration -> 'page_types') as t
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
end;
$$;

create or replace function _pgrag.configuration_complaints(
    configuration jsonb
)
returns table (
    location text,
    problem text,
    hint text
)
language sql
stable
parallel safe
as $$
    with known (section, fields, name_form, naming) as (
        values
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
            ('synonyms', null, '', ''),
            (
                'page_types',
                '{description, folders, chunk_profile, edge_defaults, retriever_weight, asked_by, '
                'link_keys, inject}',
                '^[a-z0-9][a-z0-9_-]{0,49}$', 'small letters, digits, _ and -'
            ),
            (
                'edge_kinds', '{description, weight}',
                '^[a-z][a-z0-9_]{0,49}$', 'small letters, digits and _'
            ),
            (
                'templates', '{description, system, prompt}',
                '^[a-z][a-z0-9_-]{0,49}$', 'small letters, digits, _ and -'
            )
    ),
    section_names as (
        select 'Sections: ' || string_agg(k.section, ', ') || '.' as hint from known as k
    ),
    sections as (
        select
            s.key as section, s.value as entries, k.name_form, k.naming, a.takes_arguments,
            k.fields || case when a.takes_arguments then _pgrag.strategy_arguments() end as fields
        from jsonb_each(
            case when jsonb_typeof(configuration) = 'object' then configuration end
        ) as s
        left join known as k on k.section = s.key
        cross join lateral (select s.key in ('query_types', 'intents')) as a (takes_arguments)
    ),
    entries as (
        select
            s.section, e.value as entry, s.fields, s.takes_arguments, s.name_form, s.naming,
            e.key as name,
            s.section || '/' || e.key as location,
            jsonb_typeof(e.value) = 'object' as is_object
        from sections as s
        cross join lateral jsonb_each(
            case when jsonb_typeof(s.entries) = 'object' then s.entries else '{}' end
        ) as e
        where s.name_form is not null
    )
    select null, 'A configuration must be an object of sections.', n.hint
    from section_names as n
    where jsonb_typeof(configuration) is distinct from 'object'
    union all
    select s.section, c.problem, c.hint
    from sections as s
    cross join section_names as n
    cross join lateral (
        values
            ('there is no such section.', n.hint, s.name_form is null),
            (
                'must be an object of entries by name.', null,
                s.name_form is not null and jsonb_typeof(s.entries) <> 'object'
            )
    ) as c (problem, hint, applies)
    where c.applies
    union all
    select e.location || c.part, c.problem, null
    from entries as e
    cross join lateral (
        values
            (
                '', 'must be an object, or null to remove it.',
                jsonb_typeof(e.entry) not in ('object', 'null')
            ),
            ('', 'the name must be of ' || e.naming || '.', e.name !~ e.name_form),
            (
                '', 'needs one of words, pattern and shape.',
                e.section = 'rules' and e.is_object
                and num_nonnulls(e.entry ->> 'words', e.entry ->> 'pattern', e.entry ->> 'shape')
                    <> 1
            ),
            (
                '', 'needs an intent or a query type.',
                e.section = 'rules' and e.is_object
                and num_nonnulls(e.entry ->> 'intent', e.entry ->> 'query_type') = 0
            ),
            (
                '', 'needs system and prompt.',
                e.section = 'templates' and e.is_object
                and num_nulls(e.entry ->> 'system', e.entry ->> 'prompt') > 0
            ),
            (
                '', '{default} is what this template says, and stands in others only.',
                e.location = 'templates/default'
                and concat(e.entry ->> 'system', e.entry ->> 'prompt') like '%{default}%'
            ),
            -- The token budget counts the sources once.
            (
                '/prompt', 'says the sources more than once.',
                e.section = 'templates'
                and regexp_count(e.entry ->> 'prompt', '\{sources\}|\{default\}') > 1
            )
    ) as c (part, problem, applies)
    where c.applies
    union all
    select e.location || '/' || f.key, c.problem, c.hint
    from entries as e
    cross join lateral jsonb_each(case when e.is_object then e.entry end) as f
    cross join lateral (
        values
            (
                'there is no such field.', 'Fields: ' || array_to_string(e.fields, ', ') || '.',
                f.key <> all (e.fields)
            ),
            (
                case
                    -- As in a search, or like the setting of a library.
                    when f.key = 'graph' and jsonb_typeof(f.value) = 'object'
                    then _pgrag.setting_complaint(jsonb_build_object('graph', f.value))
                    else _pgrag.value_fault(f.value, _pgrag.field_rules() -> f.key)
                end,
                null, jsonb_typeof(f.value) <> 'null'
            )
    ) as c (problem, hint, applies)
    where e.section <> 'synonyms' and c.applies and c.problem is not null
    union all
    select e.location || '/' || c.location, c.problem, c.hint
    from entries as e
    cross join lateral _pgrag.synonym_complaints(e.entry) as c
    where e.section = 'synonyms';
$$;

-- Complaints about the synonyms of one library; a location begins with the term.
create or replace function _pgrag.synonym_complaints(
    synonyms jsonb
)
returns table (
    location text,
    problem text,
    hint text
)
language sql
immutable
parallel safe
as $$
    with terms as (
        select t.key as term, w.entry, jsonb_typeof(w.entry) = 'object' as is_object
        from jsonb_each(
            case when jsonb_typeof(synonyms) = 'object' then synonyms else '{}' end
        ) as t
        cross join lateral (
            select case
                when jsonb_typeof(t.value) = 'array'
                then jsonb_build_object('expansions', t.value)
                else t.value
            end as entry
        ) as w
    )
    select t.term || c.part, c.problem, null
    from terms as t
    cross join lateral (
        values
            (
                '', 'must be a list of synonyms, or an object with expansions.',
                jsonb_typeof(t.entry) not in ('object', 'null')
            ),
            ('', 'the term has no word.', t.term !~ '\w'),
            (
                '/expansions', 'must be a list of words or phrases.',
                t.is_object
                and _pgrag.value_fault(
                    coalesce(t.entry -> 'expansions', 'null'), _pgrag.field_rules() -> 'words'
                ) is not null
            )
    ) as c (part, problem, applies)
    where c.applies
    union all
    select
        t.term || '/' || f.key,
        case f.key
            when 'weight' then format('must be above 0, at most 1, got %s.', w.written)
            when 'mutual' then format('must be true or false, got %s.', w.written)
            else 'there is no such field.'
        end,
        case
            when f.key not in ('weight', 'mutual') then 'Fields: expansions, weight, mutual.'
        end
    from terms as t
    cross join lateral jsonb_each(case when t.is_object then t.entry end) as f
    cross join lateral left(f.value::text, 100) as w (written)
    where case
        when f.key = 'mutual' then jsonb_typeof(f.value) <> 'boolean'
        when f.key <> 'weight' then f.key <> 'expansions'
        when jsonb_typeof(f.value) <> 'number' then true
        else not (f.value::numeric between 1e-100 and 1)
    end;
$$;
