-- The table of this name. Without a schema in public, else in the only schema that has one.
create or replace function _pgrag.table_named(
    name text
)
returns regclass
language plpgsql
stable
parallel safe
as $$
declare
    relation regclass;
    known text[];
begin
    begin
        relation := to_regclass(table_named.name);
    exception when feature_not_supported then
        null;  -- a name with another database
    end;
    if relation is null then
        known := array(
            select c.oid::regclass::text
            from pg_class as c
            join pg_namespace as n on n.oid = c.relnamespace
            where c.relkind in ('r', 'p', 'v', 'm', 'f')
                and n.nspname !~ '^(pg_|_pgrag$|information_schema$)'
            order by c.relispartition, 1
        );
        select min(k.name)::regclass
        into relation
        from unnest(known) as k (name)
        where split_part(k.name, '.', 2) in (table_named.name, quote_ident(table_named.name))
        having count(*) = 1;
    end if;
    if relation is null then
        raise exception 'There is no table %.', quote_nullable(name)
            using errcode = 'PGR01',
                -- A role named pgrag makes its tables in pgrag where it names no schema.
                hint = _pgrag.name_hint(
                    name,
                    array(
                        select k from unnest(known) as k
                        where k not like 'pgrag.%'
                            or split_part(k, '.', 2) = split_part(table_named.name, '.', 2)
                    ),
                    'The tables are', 'There are none.'
                );
    end if;
    return relation;
end;
$$;
