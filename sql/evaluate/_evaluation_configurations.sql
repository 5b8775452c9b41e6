-- The search methods to compare first.
create or replace function _pgrag.evaluation_configurations()
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

-- A service evaluates with its own rights what its callers name, so only functions of the schema
-- pgrag are allowed.
create or replace function _pgrag.hit_function(
    name text
)
returns oid
language sql
stable
parallel safe
as $$
    select p.oid
    from pg_proc as p
    where p.pronamespace = 'pgrag'::regnamespace
        and p.proname = regexp_replace(hit_function.name, '^pgrag\.', '')
        and p.proretset
        and p.prorettype = 'pgrag.hit'::regtype
        and not starts_with(p.proname, '_')
        and p.proargnames @> '{query, library, top_k}'
    order by p.oid
    limit 1;
$$;
