-- Turns a JSON object into the argument list of a call by name, each value a literal of the
-- argument's type. Names and types come from pg_proc. Unknown names go into the argument options,
-- if the function has one.
create or replace function _pgrag.named_arguments(
    function regproc,
    arguments jsonb
)
returns text
language plpgsql
stable
parallel safe
as $$
declare
    known text[] := (
        select p.proargnames[:p.pronargs] from pg_proc as p where p.oid = named_arguments.function
    );
    others jsonb;
    call text;
begin
    others := jsonb_strip_nulls(arguments) - known;
    if others <> '{}' then
        if 'options' <> all (known) then
            raise exception 'There is no argument %.', (
                select string_agg(o.key, ', ' order by o.key)
                from jsonb_object_keys(others) as o (key)
            )
                using errcode = 'PGR01',
                    hint = format('There are: %s.', array_to_string(known, ', '));
        end if;
        arguments := arguments || jsonb_build_object(
            'options', others || coalesce(nullif(arguments -> 'options', 'null'), '{}')
        );
    end if;
    select string_agg(
        format('%I => %L::%s', k.name, _pgrag.literal(g.value, k.type_id), k.type_id::regtype),
        ', '
        order by g.key
    )
    into call
    from pg_proc as p
    cross join unnest(p.proargnames[:p.pronargs], p.proargtypes::oid[]) as k (name, type_id)
    join jsonb_each(arguments) as g on g.key = k.name
    where p.oid = named_arguments.function and g.value <> 'null';
    return coalesce(call, '');
end;
$$;

-- A list becomes an array, unless the argument is of type jsonb or a vector.
create or replace function _pgrag.literal(
    value jsonb,
    type_id oid
)
returns text
language sql
stable
parallel safe
as $$
    select case
        when jsonb_typeof(literal.value) = 'array'
            and exists (
                select from pg_type as t where t.oid = literal.type_id and t.typcategory = 'A'
            )
        then array(select jsonb_array_elements_text(literal.value))::text
        when literal.type_id = 'jsonb'::regtype then literal.value::text
        else literal.value #>> '{}'
    end;
$$;
