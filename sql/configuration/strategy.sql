create or replace function pgrag.strategy(
    intent_name text,
    type_name text default null
)
returns table (
    intent text,
    query_type text,
    levels integer[],
    unit text,
    aggregate text,
    alpha double precision,
    alpha_offset double precision,
    hierarchy text,
    arguments jsonb
)
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
declare
    unknown constant text := case
        when not exists (
            select from pgrag.intents as i where i.name = upper(btrim(strategy.intent_name))
        )
        then 'intent ' || quote_nullable(left(strategy.intent_name, 100))
        when strategy.type_name is not null and not exists (
            select from pgrag.query_types as t where t.name = lower(btrim(strategy.type_name))
        )
        then 'query type ' || quote_literal(left(strategy.type_name, 100))
    end;
begin
    if unknown is not null then
        raise exception 'There is no %.', unknown
            using errcode = 'PGR01',
                hint = coalesce(
                    'Intents: '
                    || (select string_agg(i.name, ', ' order by i.name) from pgrag.intents as i)
                    || '; query types: '
                    || (select string_agg(t.name, ', ' order by t.name) from pgrag.query_types as t)
                    || '; or auto, to let the query decide.',
                    'None is stored: run `pgrag db upgrade`.'
                );
    end if;
    return query
    select s.*
    from _pgrag.chosen_strategy(
        upper(btrim(strategy.intent_name)), lower(btrim(strategy.type_name))
    ) as s;
end;
$$;

comment on function pgrag.strategy is
'The strategy of an intent (by name, in any case) and a query type (default: the intent''s default
type, else factual) for a search: levels, unit, aggregate, alpha, alpha_offset, hierarchy and
arguments as in detect_intent. Errors: PGR01, with the existing names.';

-- What intent and query type both set comes from the intent, but the hierarchy from the type.
create or replace function _pgrag.chosen_strategy(
    wanted_intent text,
    wanted_type text
)
returns table (
    intent text,
    query_type text,
    levels integer[],
    unit text,
    aggregate text,
    alpha double precision,
    alpha_offset double precision,
    hierarchy text,
    arguments jsonb
)
language sql
stable
parallel safe
rows 1
set search_path from current
as $$
    select
        chosen_strategy.wanted_intent, chosen.query_type,
        coalesce(i.levels, t.levels, '{1, 2}'),
        coalesce(i.unit, 'document'),
        coalesce(i.aggregate, 'max'), i.alpha, t.alpha_offset,
        coalesce(t.hierarchy, i.hierarchy, 'none'),
        case
            when i.inject_types <> '{}' then jsonb_build_object('inject_types', i.inject_types)
            else '{}'
        end || coalesce(t.arguments, '{}') || coalesce(i.arguments, '{}')
    from (select) as always
    left join pgrag.intents as i on i.name = chosen_strategy.wanted_intent
    cross join lateral (
        select coalesce(chosen_strategy.wanted_type, i.query_type, 'factual') as query_type
    ) as chosen
    left join pgrag.query_types as t on t.name = chosen.query_type;
$$;
