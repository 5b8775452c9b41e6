-- A section is a table, an entry a row with its name. A new section must be added here, in
-- _configuration_complaints and in write_configuration.
create or replace function pgrag.configuration()
returns jsonb
language sql
stable
parallel safe
set search_path from current
as $$
    select '{
            "query_types": {}, "intents": {}, "rules": {}, "synonyms": {}, "page_types": {},
            "edge_kinds": {}, "templates": {}
        }' || coalesce(jsonb_object_agg(s.section, s.entries), '{}')
    from (
        select u.section, jsonb_object_agg(u.name, u.entry) as entries
        from (
            select
                'query_types' as section, t.name,
                jsonb_strip_nulls(to_jsonb(t) - '{name, arguments}'::text[]) || t.arguments
                    as entry
            from pgrag.query_types as t
            union all
            select
                'intents', i.name,
                jsonb_strip_nulls(to_jsonb(i) - '{name, arguments}'::text[]) || i.arguments
            from pgrag.intents as i
            union all
            select 'templates', t.name, to_jsonb(t) - 'name'
            from pgrag.answer_templates as t
            union all
            select 'page_types', t.name, jsonb_strip_nulls(to_jsonb(t) - 'name')
            from pgrag.page_types as t
            union all
            select 'edge_kinds', k.name, to_jsonb(k) - 'name'
            from pgrag.edge_kinds as k
            union all
            select 'rules', r.name, jsonb_strip_nulls(
                jsonb_build_object(
                    'language', r.language,
                    r.kind, case r.kind
                        when 'words'
                        then to_jsonb(regexp_split_to_array(btrim(r.pattern), '\s*\|\s*'))
                        else to_jsonb(r.pattern)
                    end,
                    'intent', r.intent,
                    'query_type', r.query_type,
                    'confidence', r.confidence
                )
            )
            from pgrag.intent_rules as r
            union all
            select 'synonyms', l.name, jsonb_object_agg(
                s.term, to_jsonb(s) - 'library_id' - 'term'
            )
            from pgrag.synonyms as s
            join pgrag.libraries as l on l.library_id = s.library_id
            group by l.name
        ) as u
        group by u.section
    ) as s;
$$;

comment on function pgrag.configuration is
'The whole configuration in force: {"query_types": …, "intents": …, "rules": …, "synonyms": …,
"page_types": …, "edge_kinds": …, "templates": …}, each an object of entries by name; synonyms by
library and term. apply_configuration takes the same form.';

-- An entry with its defaults filled in, so that equal entries compare as equal.
create or replace function _pgrag.whole_entry(
    section text,
    entry jsonb
)
returns jsonb
language sql
immutable
parallel safe
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
        else '{
            "query_types": {"description": "", "levels": [1, 2]},
            "intents": {"description": "", "unit": "document", "aggregate": "max",
                "inject_types": []},
            "templates": {"description": ""},
            "page_types": {"description": "", "folders": [], "edge_defaults": [],
                "retriever_weight": 1, "asked_by": [], "link_keys": [], "inject": []},
            "edge_kinds": {"description": "", "weight": 1},
            "rules": {"language": "any", "confidence": 0.8}
        }'::jsonb -> section || jsonb_strip_nulls(entry)
    end;
$$;
