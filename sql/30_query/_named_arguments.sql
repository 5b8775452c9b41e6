-- The arguments of a function as data: the text of a call by name, every value a literal of
-- the argument's own type. What an argument is called and what type it has is the function's to
-- say, so that one which it gets later is known here at once.
create or replace function pgrag._named_arguments(
    function regproc,
    arguments jsonb
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    unknown text;
    call text;
begin
    if jsonb_typeof(arguments) is distinct from 'object' then
        raise exception 'The arguments must be an object, got %.', arguments
            using errcode = 'PGR01', hint = 'For example {"alpha": 0.4, "levels": [1, 2]}.';
    end if;
    with known as (
        select a.name, p.proargtypes[a.place - 1] as type_id
        from pg_proc as p
        cross join lateral unnest(p.proargnames[:p.pronargs]) with ordinality as a (name, place)
        where p.oid = _named_arguments.function
    )
    select
        string_agg(g.key, ', ' order by g.key) filter (where k.name is null),
        string_agg(
            format('%I => %L::%s', g.key, pgrag._literal(g.value, k.type_id), k.type_id::regtype),
            ', '
            order by g.key
        )
    into unknown, call
    from jsonb_each(arguments) as g
    left join known as k on k.name = g.key
    where g.value <> 'null';
    if unknown is not null then
        raise exception 'There is no argument %.', unknown
            using errcode = 'PGR01',
                hint = (
                    select 'There are: ' || string_agg(a.name, ', ' order by a.place) || '.'
                    from pg_proc as p
                    cross join lateral unnest(p.proargnames[:p.pronargs])
                        with ordinality as a (name, place)
                    where p.oid = _named_arguments.function
                );
    end if;
    return coalesce(call, '');
end;
$$;

-- A list becomes an array, unless it is JSON or a vector that is asked for.
create or replace function pgrag._literal(
    value jsonb,
    type_id oid
)
returns text
language sql
stable
parallel safe
as $$
    select case
        when _literal.type_id = 'pg_catalog.jsonb'::regtype then _literal.value::text
        when pg_catalog.jsonb_typeof(_literal.value) = 'array'
            and exists (
                select from pg_catalog.pg_type as t
                where t.oid = _literal.type_id and t.typcategory = 'A'
            )
        then (
            select array(
                select pg_catalog.jsonb_array_elements_text(_literal.value)
            )::text
        )
        else _literal.value #>> '{}'
    end;
$$;
