-- The table of a library, with the columns that it had when it was indexed.
create or replace function _pgrag.table_definition(
    owner pgrag.libraries
)
returns pgrag.indexed_tables
language plpgsql
stable
parallel safe
as $$
declare
    definition pgrag.indexed_tables;
    gone text;
begin
    select t.*
    into definition
    from pgrag.indexed_tables as t
    where t.library_id = owner.library_id;
    if not found then
        raise exception 'The library % holds no table.', quote_literal(owner.name)
            using errcode = 'PGR01',
                hint = _pgrag.name_hint(
                    owner.name,
                    array(
                        select l.name
                        from pgrag.indexed_tables as t
                        join pgrag.libraries as l on l.library_id = t.library_id
                    ),
                    'Those that do are', 'Index one by pgrag.index_table.'
                );
    elsif not exists (select from pg_class as c where c.oid = definition.source) then
        raise exception 'The table of the library % has been dropped.', quote_literal(owner.name)
            using errcode = 'PGR01',
                hint = 'Remove the library, or give it another table by pgrag.index_table.';
    end if;
    if not _pgrag.may_be_read(definition) then
        raise exception '% belongs to %, whose functions would run with the rights of %.',
            definition.source,
            (select c.relowner::regrole from pg_class as c where c.oid = definition.source),
            current_user
            using errcode = '42501', hint = 'Refresh it in the role of its owner, or own it.';
    elsif not _pgrag.is_shown_to_indexer(definition) then
        raise exception '% may not read all of %, which it has indexed, so % does not for it.',
            definition.indexed_by, definition.source, current_user
            using errcode = '42501',
                hint = 'Refresh it in that role, or call pgrag.index_table again in this one.';
    end if;
    select n.name #>> '{}'
    into gone
    from jsonb_path_query(definition.columns, '$.*[*]') as n (name)
    where n.name #>> '{}' <> all (_pgrag.column_names(definition.source))
    limit 1;
    if found then
        raise exception '% has no column % any more.', definition.source, quote_literal(gone)
            using errcode = 'PGR01',
                hint = format(
                    'Name the columns again by pgrag.index_table: %s',
                    _pgrag.name_hint(
                        gone, _pgrag.column_names(definition.source), 'Its columns are',
                        'It has none.'
                    )
                );
    end if;
    return definition;
end;
$$;

-- Whoever may write a library may give it a view, and a view calls functions with the rights of
-- whoever reads it; so may casts of a type. Safe are tables with types of the system or with
-- enumerations without casts, and whatever belongs to a role that has the caller's rights anyway.
create or replace function _pgrag.may_be_read(
    definition pgrag.indexed_tables
)
returns boolean
language sql
stable
parallel safe
as $$
    select pg_has_role(c.relowner, current_user, 'member')
        or c.relkind in ('r', 'p', 'm') and not exists (
            select
            from pg_attribute as a
            join pg_type as t on t.oid = a.atttypid
            where a.attrelid = c.oid
                and a.attnum > 0
                and not a.attisdropped
                and jsonb_path_exists(
                    (may_be_read.definition).columns, '$.*[*] ? (@ == $name)',
                    jsonb_build_object('name', a.attname)
                )
                and t.typnamespace <> 'pg_catalog'::regnamespace
                and not pg_has_role(t.typowner, current_user, 'member')
                and (
                    not exists (
                        select
                        from pg_type as e
                        where e.oid in (t.oid, t.typelem) and e.typtype = 'e'
                    )
                    or exists (select from pg_cast as k where k.castsource in (t.oid, t.typelem))
                )
        )
    from pg_class as c
    where c.oid = (may_be_read.definition).source;
$$;

-- A worker may read more than the role that has indexed a table, and must not read it for that
-- role. What a view or a foreign table shows depends on who reads it, and policies hide rows.
create or replace function _pgrag.is_shown_to_indexer(
    definition pgrag.indexed_tables
)
returns boolean
language sql
stable
parallel safe
as $$
    select exists (
        select
        from pg_roles as r
        join pg_class as c on c.oid = (is_shown_to_indexer.definition).source
        where r.rolname = (is_shown_to_indexer.definition).indexed_by
            and (
                pg_has_role(r.oid, current_user, 'member')
                or c.relkind in ('r', 'p', 'm')
                and (
                    not c.relrowsecurity
                    or r.rolbypassrls
                    or not c.relforcerowsecurity and pg_has_role(r.oid, c.relowner, 'usage')
                )
                and not exists (
                    select
                    from jsonb_path_query(
                        (is_shown_to_indexer.definition).columns, '$.*[*]'
                    ) as n (name)
                    join pg_attribute as a on a.attrelid = c.oid and a.attname = n.name #>> '{}'
                    where not has_column_privilege(r.oid, c.oid, a.attnum, 'select')
                )
            )
    );
$$;
