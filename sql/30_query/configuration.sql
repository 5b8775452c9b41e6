-- What an administrator decides for all libraries, as one document. A section is a table, an entry
-- a row, by its name; further sections join here, in _check_configuration and in
-- _write_configuration.
create or replace function pgrag.configuration()
returns jsonb
language sql
stable
parallel safe
set search_path from current
as $$
    select jsonb_build_object(
        'query_types', (
            select coalesce(jsonb_object_agg(t.name, jsonb_strip_nulls(to_jsonb(t) - 'name')), '{}')
            from pgrag.query_types as t
        ),
        'intents', (
            select coalesce(
                jsonb_object_agg(i.name, jsonb_strip_nulls(to_jsonb(i) - 'name')), '{}'
            )
            from pgrag.intents as i
        ),
        'templates', (
            select coalesce(jsonb_object_agg(t.name, to_jsonb(t) - 'name'), '{}')
            from pgrag.answer_templates as t
        ),
        'rules', (
            select coalesce(jsonb_object_agg(r.name, pgrag._rule_entry(r)), '{}')
            from pgrag.intent_rules as r
        ),
        'synonyms', (
            select coalesce(jsonb_object_agg(s.library, s.entries), '{}')
            from (
                select
                    l.name as library,
                    jsonb_object_agg(
                        s.term, to_jsonb(s) - 'library_id' - 'term'
                    ) as entries
                from pgrag.synonyms as s
                join pgrag.libraries as l on l.library_id = s.library_id
                group by l.name
            ) as s
        ),
        'page_types', (
            select coalesce(jsonb_object_agg(t.name, jsonb_strip_nulls(to_jsonb(t) - 'name')), '{}')
            from pgrag.page_types as t
        ),
        'edge_kinds', (
            select coalesce(jsonb_object_agg(k.name, to_jsonb(k) - 'name'), '{}')
            from pgrag.edge_kinds as k
        )
    );
$$;

comment on function pgrag.configuration() is
'The whole configuration as it is in force: {"query_types": …, "intents": …, "rules": …,
"synonyms": …, "page_types": …, "edge_kinds": …, "templates": …}, each an object of entries by
name; synonyms by library and term. It is what apply_configuration takes.';

create or replace function pgrag.configuration_history(
    match_count integer default 20
)
returns table (
    version_id bigint,
    origin text,
    note text,
    created_at timestamptz,
    configuration jsonb
)
language sql
stable
parallel safe
rows 20
set search_path from current
as $$
    select v.version_id, v.origin, v.note, v.created_at, v.configuration
    from pgrag.configuration_versions as v
    order by v.version_id desc
    limit greatest(coalesce(configuration_history.match_count, 20), 0);
$$;

comment on function pgrag.configuration_history(integer) is
'The versions of the configuration, the newest first: as a release shipped it (origin package), and
as it was after somebody had changed it (origin user), with the note that was given.';

create or replace function pgrag._rule_entry(
    rule pgrag.intent_rules
)
returns jsonb
language sql
stable
parallel safe
set search_path from current
as $$
    select jsonb_strip_nulls(
        jsonb_build_object(
            'language', (rule).language,
            case when (rule).kind = 'words' then 'words' else (rule).kind end,
            case
                when (rule).kind = 'words'
                then to_jsonb(regexp_split_to_array(btrim((rule).pattern), '\s*\|\s*'))
                else to_jsonb((rule).pattern)
            end,
            'intent', (rule).intent,
            'query_type', (rule).query_type,
            'confidence', (rule).confidence
        )
    );
$$;

-- An entry with all that it leaves to the defaults, so that equal ones compare as equal.
create or replace function pgrag._whole_entry(
    section text,
    entry jsonb
)
returns jsonb
language sql
immutable
parallel safe
set search_path from current
as $$
    select case
        when entry is null or jsonb_typeof(entry) = 'null' then null
        when section = 'synonyms'
        then (
            select jsonb_object_agg(
                e.key,
                '{"mutual": false, "weight": 0.5}'
                || case
                    when jsonb_typeof(e.value) = 'array'
                    then jsonb_build_object('expansions', e.value)
                    else e.value
                end
            )
            from jsonb_each(entry) as e
            where jsonb_typeof(e.value) <> 'null'
        )
        else jsonb_strip_nulls(
            case section
                when 'query_types' then '{"description": "", "levels": [1, 2]}'::jsonb
                when 'intents'
                then '{
                    "description": "", "unit": "document", "aggregate": "max", "inject_types": []
                }'::jsonb
                when 'templates' then '{"description": ""}'::jsonb
                when 'page_types'
                then '{
                    "description": "", "folders": [], "edge_defaults": [], "retriever_weight": 1,
                    "link_keys": [], "inject": []
                }'::jsonb
                when 'edge_kinds' then '{"description": "", "weight": 1}'::jsonb
                else '{"language": "any", "confidence": 0.8}'::jsonb
            end || entry
        )
    end;
$$;

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
    perform pgrag._check_configuration(compare_configuration.entries);
    return query
    with wanted as (
        select s.key as section, e.key as name, pgrag._whole_entry(s.key, e.value) as entry
        from jsonb_each(compare_configuration.entries) as s
        cross join lateral jsonb_each(s.value) as e
    ),
    present as (
        select s.key as section, e.key as name, e.value as entry
        from jsonb_each(pgrag.configuration()) as s
        cross join lateral jsonb_each(s.value) as e
        where compare_configuration.entries ? s.key
    )
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
    from wanted as w
    full join present as p on p.section = w.section and p.name = w.name
    where w.entry is distinct from p.entry
        and (w.section is not null or compare_configuration.exact)
    order by 1, 2;
end;
$$;

comment on function pgrag.compare_configuration(jsonb, boolean) is
'What apply_configuration would change, one row an entry: section, name, change (add, change,
remove) and the entry before and after. An entry that is null is removed; with exact, so is every
entry that a section given does not name. Errors: PGR01, naming section, entry and field.';
