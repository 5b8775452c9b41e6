-- Every role that may connect can call the functions of the schema pgrag, the public API; those of
-- _pgrag may change without notice. A call has the rights of its caller (every function is security
-- invoker), so privileges on tables and row-level security decide who reads and who writes; see
-- secure_tables.
grant usage on schema pgrag, _pgrag to public;
-- Policies ask it in the name of whoever reads a table.
grant select on _pgrag.own_grants to public;

-- Recreated functions lose their grants, and some databases revoke "execute" from public by
-- default, so all grants are repeated here. Helpers also run with their caller's rights, so every
-- caller of a public function needs "execute" on its helpers.
do
$$
declare
    signature regprocedure;
    reader name;
begin
    for signature in
        select p.oid
        from pg_proc as p
        join pg_namespace as n on n.oid = p.pronamespace
        where n.nspname in ('pgrag', '_pgrag')
            and not exists (
                select
                from pg_depend as d
                where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
            )
    loop
        execute format('grant execute on function %s to public', signature);
    end loop;
    -- Barrier views; see secure_tables, which makes the roles.
    for reader in
        select r.rolname
        from pg_roles as r
        where r.rolname in ('pgrag_reader', 'pgrag_writer', 'pgrag_admin')
    loop
        execute format('grant select on all tables in schema _pgrag to %I', reader);
    end loop;
end;
$$;
