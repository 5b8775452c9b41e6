-- The faults of a configuration, by section/name/field; a reader of a file adds the line.
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
                'query_types',
                '{description, levels, alpha_offset, hierarchy}'::text[]
                    || _pgrag.strategy_arguments(),
                '^[a-z][a-z0-9_]{0,49}$', 'small letters, digits and _'
            ),
            (
                'intents',
                '{description, unit, aggregate, levels, alpha, hierarchy, query_type, template, '
                'inject_types}'::text[] || _pgrag.strategy_arguments(),
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
    sections as (
        select s.key as section, s.value as entries, k.fields, k.name_form, k.naming
        from jsonb_each(
            case when jsonb_typeof(configuration) = 'object' then configuration end
        ) as s
        left join known as k on k.section = s.key
    ),
    entries as (
        select
            s.*, e.key as name, e.value as entry, s.section || '/' || e.key as location,
            jsonb_typeof(e.value) = 'object' as is_object
        from sections as s
        cross join lateral jsonb_each(
            case when jsonb_typeof(s.entries) = 'object' then s.entries end
        ) as e
        where s.name_form is not null
    )
    select c.location, c.problem, 'Sections: ' || string_agg(k.section, ', ') || '.'
    from known as k
    cross join (
        select null as location, 'A configuration must be an object of sections.' as problem
        where jsonb_typeof(configuration) is distinct from 'object'
        union all
        select s.section, 'there is no such section.' from sections as s where s.name_form is null
    ) as c
    group by c.location, c.problem
    union all
    select s.section, 'must be an object of entries by name.', null
    from sections as s
    where s.name_form is not null and jsonb_typeof(s.entries) <> 'object'
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
                '', '{default} is what this template says, so only others can use it.',
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
        select
            'there is no such field.' as problem,
            'Fields: ' || array_to_string(e.fields, ', ') || '.' as hint
        where f.key <> all (e.fields)
        union all
        select
            case
                -- Not only true or false, as in a search: an object, too, as in settings.
                when f.key = 'graph' and jsonb_typeof(f.value) = 'object'
                then _pgrag.setting_complaint(jsonb_build_object('graph', f.value))
                else _pgrag.value_fault(f.value, _pgrag.field_rules() -> f.key)
            end,
            null
        where f.key = any (e.fields) and f.value <> 'null'
    ) as c
    where e.section <> 'synonyms' and c.problem is not null
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
        select
            t.key as term,
            case
                when jsonb_typeof(t.value) = 'array' then jsonb_build_object('expansions', t.value)
                else t.value
            end as entry
        from jsonb_each(
            case when jsonb_typeof(synonyms) = 'object' then synonyms else '{}' end
        ) as t
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
                jsonb_typeof(t.entry) = 'object'
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
    cross join lateral jsonb_each(case when jsonb_typeof(t.entry) = 'object' then t.entry end) as f
    cross join lateral left(f.value::text, 100) as w (written)
    where case
        when f.key = 'mutual' then jsonb_typeof(f.value) <> 'boolean'
        when f.key <> 'weight' then f.key <> 'expansions'
        when jsonb_typeof(f.value) <> 'number' then true
        else not (f.value::numeric between 1e-100 and 1)
    end;
$$;
