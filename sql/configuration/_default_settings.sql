-- Names, types and defaults of settings are declared here, valid values in setting_complaint.
create or replace function _pgrag.default_settings()
returns jsonb
language sql
immutable
parallel safe
as $$
    select '{
        "field_weights": {"title": 4, "path": 3, "url": 2, "content": 1},
        "k1": 1.2,
        "b": 0.75,
        "alpha": 0.3,
        "page_evidence": 0.7,
        "title_evidence": 0.5,
        "token_weight": 0.2,
        "type_weights": true,
        "exact_limit": 20000,
        "intent": "off",
        "query_expansion": "none",
        "aggregate": "max",
        "anchor_texts": false,
        "graph": {
            "search": false,
            "depth": 1,
            "seeds": 10,
            "fan_out": 30,
            "total": 100,
            "admitted": 5,
            "semantic_weight": 1,
            "edge_weight": 0.7,
            "centrality_weight": 0.5,
            "hub_share": 0.3
        },
        "edge_vectors": false,
        "enrichment": "off",
        "enrichment_limits": {
            "context_length": 200,
            "summary_length": 1200,
            "minimum_length": 50,
            "page_input": 8000,
            "summary_input": 6000
        },
        "overlap_size": 50,
        "overlap_strategy": "words"
    }'::jsonb;
$$;

-- The error in the first invalid setting; null if all are valid.
create or replace function _pgrag.setting_complaint(
    settings jsonb
)
returns text
language sql
immutable
parallel safe
as $$
    select format(
        '%s must be %s, got %s.',
        s.name,
        case
            when b.choices is not null then array_to_string(b.choices, ', ')
            when b.name is not null
            then format(
                '%s from %s to %s',
                case when b.is_whole then 'a whole number' else 'a number' end, b.lowest, b.highest
            )
            when jsonb_typeof(d.value) = 'boolean' then 'true or false'
            when d.value is not null then 'a text'
            else 'one of ' || (
                select string_agg(other.name, ', ' order by other.name)
                from _pgrag.setting_values(_pgrag.default_settings()) as other
                where starts_with(other.name, split_part(s.name, '.', 1) || '.')
            )
        end,
        s.value
    )
    from _pgrag.setting_values(setting_complaint.settings) as s
    left join _pgrag.setting_values(_pgrag.default_settings()) as d on d.name = s.name
    left join (
        values
            ('field_weights.title', 0, 1000, false, null::text[]),
            ('field_weights.path', 0, 1000, false, null),
            ('field_weights.url', 0, 1000, false, null),
            ('field_weights.content', 0, 1000, false, null),
            ('k1', 0, 100, false, null),
            ('b', 0, 1, false, null),
            ('alpha', 0, 1, false, null),
            ('page_evidence', 0, 1, false, null),
            ('title_evidence', 0, 1, false, null),
            ('token_weight', 0, 1, false, null),
            ('exact_limit', 0, 10000000, true, null),
            ('graph.depth', 1, 3, true, null),
            ('graph.seeds', 1, 50, true, null),
            ('graph.fan_out', 1, 200, true, null),
            ('graph.total', 1, 1000, true, null),
            ('graph.admitted', 0, 100, true, null),
            ('graph.semantic_weight', 0, 10, false, null),
            ('graph.edge_weight', 0, 10, false, null),
            ('graph.centrality_weight', 0, 10, false, null),
            ('graph.hub_share', 0, 1, false, null),
            ('enrichment', null, null, false, '{off, context, summaries, "context,summaries"}'),
            ('enrichment_limits.context_length', 20, 2000, true, null),
            ('enrichment_limits.summary_length', 50, 10000, true, null),
            ('enrichment_limits.minimum_length', 0, 10000, true, null),
            ('enrichment_limits.page_input', 100, 1000000, true, null),
            ('enrichment_limits.summary_input', 100, 1000000, true, null),
            ('overlap_size', 0, 1000, true, null),
            ('overlap_strategy', null, null, false, '{words, sentences}'),
            ('aggregate', null, null, false, '{max, mean, rrf}')
    ) as b (name, lowest, highest, is_whole, choices) on b.name = s.name
    where case
        when jsonb_typeof(s.value) is distinct from jsonb_typeof(d.value) then true
        when b.choices is not null then s.value #>> '{}' <> all (b.choices)
        when jsonb_typeof(s.value) <> 'number' then false
        when b.is_whole and s.value::numeric % 1 <> 0 then true
        else s.value::numeric not between b.lowest and b.highest
            or not _pgrag.is_measurable(s.value::numeric)
    end
    order by s.name
    limit 1;
$$;

-- Every setting; a setting within an object has a name such as graph.depth.
create or replace function _pgrag.setting_values(
    settings jsonb
)
returns table (
    name text,
    value jsonb
)
language sql
immutable
parallel safe
as $$
    select concat_ws('.', s.key, part.key), coalesce(part.value, s.value)
    from jsonb_each(setting_values.settings) as s
    left join lateral jsonb_each(
        case when jsonb_typeof(s.value) = 'object' then s.value end
    ) as part on true;
$$;

-- The weights of the labels A, B, C, D, in this order.
create or replace function _pgrag.field_weights(
    settings jsonb
)
returns real[]
language sql
immutable
parallel safe
as $$
    select array[
        (field_weights.settings #>> '{field_weights,title}')::real,
        (field_weights.settings #>> '{field_weights,path}')::real,
        (field_weights.settings #>> '{field_weights,url}')::real,
        (field_weights.settings #>> '{field_weights,content}')::real
    ];
$$;
