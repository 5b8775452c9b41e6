create or replace function pgrag.granted_libraries()
returns table (
    role_name text,
    library text
)
language sql
stable
parallel safe
rows 10
set search_path from current
as $$
    select g.role_name, coalesce(l.name, '*')
    from pgrag.role_libraries as g
    left join pgrag.libraries as l on l.library_id = g.library_id
    order by 1, 2;
$$;

comment on function pgrag.granted_libraries is
'The libraries that roles may see, a row each; "*" stands for every library. Whoever is not a member
of pgrag_admin sees only what was granted to the role itself.';
