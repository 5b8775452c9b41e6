create or replace function pgrag.revoke_libraries(
    role_name text,
    libraries text[] default null
)
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    delete from pgrag.role_libraries as g
    where g.role_name = revoke_libraries.role_name
        and (
            revoke_libraries.libraries is null
            or exists (
                select from _pgrag.libraries_to_grant(revoke_libraries.libraries) as t
                where t.library_id is not distinct from g.library_id
            )
        );
end;
$$;

comment on function pgrag.revoke_libraries is
'Takes back what grant_libraries gave a role; without libraries everything. To revoke one library of
a role that sees every one ("*"), revoke "*" and grant the others. Errors: PGR01 for an empty list,
PGR02.';
