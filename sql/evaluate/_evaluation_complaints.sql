-- Validates the configuration of an evaluation run.
create or replace function _pgrag.evaluation_complaints(
    configuration jsonb
)
returns table (
    location text[],
    complaint text,
    hint text
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    function_id oid := _pgrag.hit_function(configuration ->> 'function');
    rules jsonb := _pgrag.argument_rules() -> 'arguments';
    -- Arguments that the evaluation sets.
    own text[] := '{query, top_k, after, explain, snippets}';
    taken text[] := array(
        select n.name
        from unnest(_pgrag.argument_names(function_id)) as n (name)
        where n.name <> all (own)
        order by n.name
    );
begin
    if jsonb_typeof(configuration) is distinct from 'object' then
        return query
        select
            '{}'::text[],
            format('A configuration must be an object, got %s.', coalesce(
                left(configuration::text, 100), 'null'
            )),
            'For example {"function": "search", "arguments": {"alpha": 0.5}}.';
        return;
    end if;

    return query
    select c.location, c.complaint, c.hint
    from (
        select
            array[k.name],
            format('A configuration has no %s.', quote_literal(k.name)),
            'It may have function, arguments, aggregate, depth, pool, settings, library, version '
                'and description.'
        from jsonb_object_keys(configuration) as k (name)
        where k.name not in (
            'function', 'arguments', 'aggregate', 'depth', 'pool', 'settings', 'version',
            'description', 'library'
        )
        union all
        select
            array['function'],
            case
                when configuration ? 'function'
                then format('There is no search function %L.', configuration ->> 'function')
                else 'A configuration needs a "function".'
            end,
            'It must be a function of the schema pgrag that returns pgrag.hit rows and takes '
                'query, library and top_k: ' || (
                select string_agg(p.proname, ', ' order by p.proname)
                from pg_proc as p
                where p.pronamespace = 'pgrag'::regnamespace
                    and p.oid = _pgrag.hit_function(p.proname)
            ) || '.'
        where function_id is null
        union all
        select
            array[w.name],
            format('%s must be an object, got %s.', w.name, configuration -> w.name),
            'For example {"alpha": 0.5}.'
        from (values ('arguments'), ('settings')) as w (name)
        where jsonb_typeof(configuration -> w.name) <> 'object'
        union all
        select
            array[r.name],
            r.name || ' ' || _pgrag.value_fault(configuration -> r.name, r.rule::jsonb),
            r.hint
        from (values
            (
                'aggregate',
                '{"type": "string", "choices": ["max", "mean", "sum", "rrf"]}',
                'It makes one score of the hits of a page.'
            ),
            ('depth', '{"type": "integer", "minimum": 1, "maximum": 1000}', 'A whole number.'),
            ('pool', '{"type": "integer", "minimum": 1, "maximum": 1000}', 'A whole number.')
        ) as r (name, rule, hint)
        where configuration -> r.name <> 'null'
        union all
        select
            array['arguments', a.name],
            case
                when a.name = any (own)
                then format('The argument %L is set by the evaluation itself.', a.name)
                when a.name <> all (taken)
                then format('%s has no argument %L.', function_id::regproc, a.name)
                when a.value = 'null' then null
                when rules ? a.name
                then a.name || ' ' || _pgrag.value_fault(a.value, rules -> a.name)
                when not pg_input_is_valid(
                    _pgrag.literal(a.value, t.type), format_type(t.type, null)
                )
                then format(
                    '%s is no %s: %s.',
                    a.name, format_type(t.type, null), left(a.value::text, 100)
                )
            end,
            case
                when a.name <> all (taken)
                then format('It takes %s.', array_to_string(taken, ', '))
            end
        from jsonb_each(
            case
                when jsonb_typeof(configuration -> 'arguments') = 'object'
                then configuration -> 'arguments'
            end
        ) as a (name, value)
        left join pg_proc as p on p.oid = function_id
        left join unnest(p.proargnames[:p.pronargs], p.proargtypes::oid[]) as t (name, type)
            on t.name = a.name
        where function_id is not null
    ) as c (location, complaint, hint)
    where c.complaint is not null
    order by c.location;
end;
$$;

-- The names that can be passed to a function that returns hits: its own arguments, and its options.
create or replace function _pgrag.argument_names(
    function_id oid
)
returns text[]
language sql
stable
parallel safe
as $$
    select p.proargnames[:p.pronargs] || array(
        select n
        from jsonb_array_elements_text(
            _pgrag.argument_rules() -> 'functions'
                -> case p.proname when 'recorded_search' then 'search' else p.proname end
        ) as n
        where p.proargnames @> '{options}' and n <> all (p.proargnames[:p.pronargs])
    )
    from pg_proc as p
    where p.oid = argument_names.function_id;
$$;
