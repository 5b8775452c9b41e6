-- The ways to search that everybody compares first.
create or replace function pgrag.evaluation_configurations()
returns table (
    name text,
    configuration jsonb
)
language sql
immutable
parallel safe
as $$
    values
        ('keyword', '{"function": "keyword_search"}'::jsonb),
        ('semantic', '{"function": "semantic_search"}'),
        ('hybrid', '{"function": "search"}'),
        ('rrf', '{"function": "search", "arguments": {"fusion": "rrf"}}');
$$;

comment on function pgrag.evaluation_configurations() is
'The built-in configurations of evaluation runs: each arm alone, the hybrid search with its
defaults, and with reciprocal rank fusion. See run_evaluation for what a configuration may say.';

create or replace function pgrag.evaluation_complaints(
    configuration jsonb
)
returns table (
    place text[],
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
    function_id oid := pgrag._hit_function(configuration ->> 'function');
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
    select c.place, c.complaint, c.hint
    from (
        select
            array[k.name],
            format('A configuration has no %s.', quote_literal(k.name)),
            'It may have function, arguments, aggregate, depth, pool, settings, variant, version '
                'and description.'
        from jsonb_object_keys(configuration) as k (name)
        where k.name not in (
            'function', 'arguments', 'aggregate', 'depth', 'pool', 'settings', 'variant', 'version',
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
            'It must return pgrag.hit rows and take query, library and match_count: ' || (
                select string_agg(p.proname, ', ' order by p.proname)
                from pg_proc as p
                where p.pronamespace = 'pgrag'::regnamespace
                    and p.oid = pgrag._hit_function(p.proname)
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
            array['aggregate'],
            format(
                'aggregate must be max, mean, sum or rrf, got %s.', configuration -> 'aggregate'
            ),
            'It makes one score of the hits of a page.'
        where configuration ->> 'aggregate' not in ('max', 'mean', 'sum', 'rrf')
        union all
        select
            array[w.name],
            format('%s must be a whole number from 1 to 1000, got %s.', w.name, w.value),
            null
        from jsonb_each(configuration) as w (name, value)
        where w.name in ('depth', 'pool')
            and case
                when w.value::text !~ '^[0-9]{1,4}$' then true
                else w.value::text::integer not between 1 and 1000
            end
    ) as c (place, complaint, hint)
    order by c.place;

    if function_id is not null and jsonb_typeof(configuration -> 'arguments') = 'object' then
        return query
        select array['arguments', a.name], a.complaint, a.hint
        from pgrag._argument_complaints(function_id, configuration -> 'arguments') as a;
    end if;
end;
$$;

comment on function pgrag.evaluation_complaints(jsonb) is
'What is wrong with a configuration of an evaluation run, if anything: the place of each fault in
it, what is wrong, and what would be right.';

-- Whatever gives hits can be evaluated, also somebody's own function in another schema.
create or replace function pgrag._hit_function(
    name text
)
returns oid
language sql
stable
parallel safe
set search_path from current
as $$
    select p.oid
    from pg_proc as p
    join pg_namespace as n on n.oid = p.pronamespace
    where n.nspname || '.' || p.proname
            = case when _hit_function.name like '%.%' then '' else 'pgrag.' end
                || _hit_function.name
        and p.proretset
        and p.prorettype = 'pgrag.hit'::regtype
        and not starts_with(p.proname, '_')
        and p.proargnames @> '{query, library, match_count}'
    order by p.oid
    limit 1;
$$;

create or replace function pgrag._argument_complaints(
    function_id oid,
    arguments jsonb
)
returns table (
    name text,
    complaint text,
    hint text
)
language sql
stable
parallel safe
set search_path from current
as $$
    with parameters as (
        select parameter.name, parameter.type
        from pg_proc as p
        cross join lateral unnest(
            p.proargnames[:p.pronargs], p.proargtypes::oid[]
        ) as parameter (name, type)
        where p.oid = _argument_complaints.function_id
    )
    select
        a.name,
        case
            when p.name is null
            then format('pgrag.%s has no argument %s.', f.proname, quote_literal(a.name))
            when a.name in ('query', 'match_count', 'after', 'explain', 'snippets')
            then format('The argument %s is set by the evaluation itself.', quote_literal(a.name))
            else format(
                '%s is no %s: %s.', a.name, format_type(p.type, null), left(a.value::text, 100)
            )
        end,
        case
            when p.name is null
            then 'It takes ' || (
                select string_agg(k.name, ', ' order by k.name)
                from parameters as k
                where k.name not in ('query', 'match_count', 'after', 'explain', 'snippets')
            ) || '.'
        end
    from jsonb_each(_argument_complaints.arguments) as a (name, value)
    join pg_proc as f on f.oid = _argument_complaints.function_id
    left join parameters as p on p.name = a.name
    where p.name is null
        or a.name in ('query', 'match_count', 'after', 'explain', 'snippets')
        or not pg_input_is_valid(
            coalesce(pgrag._literal(a.value, p.type), ''), format_type(p.type, null)
        ) and a.value <> 'null'
    order by a.name;
$$;
