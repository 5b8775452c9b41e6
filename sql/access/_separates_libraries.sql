-- Whether this session can take on a role to which row-level security applies. Roles belong to the
-- whole server, so their existence alone says nothing about this database.
create or replace function _pgrag.separates_libraries()
returns boolean
language sql
stable
parallel safe
as $$
    select coalesce(
        (
            select c.relrowsecurity
            from pg_catalog.pg_class as c
            where c.oid = 'pgrag.documents'::regclass
        )
        and (
            select pg_catalog.count(*) = 3
            from pg_catalog.pg_roles as r
            where r.rolname in ('pgrag_reader', 'pgrag_writer', 'pgrag_admin')
                and pg_catalog.pg_has_role(r.oid, 'SET')
        ),
        false
    );
$$;
