-- The origins of all publishable keys, also of those that have ended.
create or replace function _pgrag.page_origins()
returns text[]
language sql
stable
parallel safe
set search_path from current
as $$
    select coalesce(array_agg(distinct o), '{}')
    from pgrag.keys as k
    cross join lateral unnest(k.origins) as o;
$$;
