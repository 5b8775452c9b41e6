-- Only the owner of the table makes and drops its indexes.
create or replace function _pgrag.owns_vectors()
returns boolean
language sql
stable
parallel safe
as $$
    select pg_has_role(c.relowner, 'usage')
    from pg_class as c
    where c.oid = 'pgrag.embeddings'::regclass;
$$;
