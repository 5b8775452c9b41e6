create or replace function pgrag.link_states(
    library text,
    version text default null
)
returns table (
    state text,
    links bigint
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    owner_id bigint := _pgrag.library_id(library);
    wanted_version bigint := (pgrag.resolve_version(library, version)).version_id;
begin
    return query
    with counted as materialized (
        select e.state, count(*) as links, count(*) filter (where not e.fragment_found) as headless
        from pgrag.edges as e
        where e.library_id = owner_id and e.version_id = wanted_version
        group by e.state
    )
    select s.state, coalesce(sum(c.links)::bigint, 0)
    from unnest(
        '{resolved, unresolved, ambiguous, external, asset, tag, fragment}'::text[]
    ) with ordinality as s (state, nth)
    left join (
        select c.state, c.links from counted as c
        union all
        select 'fragment', c.headless from counted as c
    ) as c on c.state = s.state
    group by s.state, s.nth
    order by s.nth;
end;
$$;

comment on function pgrag.link_states is
'The number of links of one version of a library in each state (see pgrag.links); links of state
fragment also count as resolved. Errors: PGR02, PGR03.';
