-- Counts the links of a version by state (see pgrag.links); links of state fragment also count as
-- resolved.
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
#variable_conflict use_column
declare
    owner_id bigint := _pgrag.library_id(library);
    wanted_version bigint := (pgrag.resolve_version(library, version)).version_id;
begin
    return query
    select s.state, coalesce(c.links, 0)
    from unnest(
        '{resolved, unresolved, ambiguous, external, asset, tag, fragment}'::text[]
    ) with ordinality as s (state, nth)
    left join (
        select x.state, count(*) as links
        from pgrag.edges as e
        cross join lateral unnest(
            array[e.state, case when not e.fragment_found then 'fragment' end]
        ) as x (state)
        where e.library_id = owner_id and e.version_id = wanted_version
        group by x.state
    ) as c on c.state = s.state
    order by s.nth;
end;
$$;

comment on function pgrag.link_states is
'The number of links of one version of a library in each state (see pgrag.links); links of state
fragment also count as resolved. Errors: PGR02, PGR03.';
