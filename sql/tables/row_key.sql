create or replace function pgrag.row_key(
    variadic parts text[]
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.cardinality(row_key.parts) = 1 then row_key.parts[1]
        when pg_catalog.array_position(row_key.parts, null) is null
        then (
            select pg_catalog.string_agg(
                replace(replace(p.part, '%', '%25'), '/', '%2F'), '/' order by p.nth
            )
            from pg_catalog.unnest(row_key.parts) with ordinality as p (part, nth)
        )
    end;
$$;

comment on function pgrag.row_key is
'The key of a row of an indexed table, as hits have it, from the values of its id columns as texts:
"42" of one column, "acme/42" of two, where a slash in a value is %2F and a % is %25. Null if one of
several is null. For joins with tables whose key has several columns:
join orders as o on pgrag.row_key(o.tenant, o.number::text) = s.key.';

-- The value of one id column in the key of several.
create or replace function _pgrag.key_part(
    key text,
    nth integer
)
returns text
language sql
immutable
parallel safe
as $$
    select replace(replace(split_part(key_part.key, '/', key_part.nth), '%2F', '/'), '%25', '%');
$$;

-- The key of a row with this alias, as an expression of SQL. Of one column without a call, which
-- would be most of the cost of the trigger.
create or replace function _pgrag.key_expression(
    alias text,
    id text[]
)
returns text
language sql
immutable
parallel safe
as $$
    select format(
        case when count(*) = 1 then '%s' else 'pgrag.row_key(%s)' end,
        string_agg(format('%s.%I::text', alias, i.name), ', ' order by i.nth)
    )
    from unnest(key_expression.id) with ordinality as i (name, nth);
$$;
