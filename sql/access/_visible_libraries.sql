-- The caller's own grants. A policy of the table would make each check slower, and a search makes
-- twenty: so the view has the rights of its owner, and every role may read it.
create or replace view _pgrag.own_grants with (security_barrier) as
select g.library_id
from pgrag.role_libraries as g
where g.role_name = current_user::text;

comment on view _pgrag.own_grants is 'What was granted to the caller itself.';
comment on column _pgrag.own_grants.library_id is 'Library that was granted; null: every one.';

-- What the policies of row-level security ask, once for each table of a statement: the libraries
-- that the caller may see; null: all. None of these may raise: the roles of pgrag may be missing
-- where a dump was restored. Policies and barrier views call them with the caller's search_path, in
-- which a function, operator or type of the caller's own could come first: so every name is
-- qualified. A clause "set search_path" would be as safe, and cost each search more.
create or replace function _pgrag.visible_libraries()
returns bigint[]
language plpgsql
stable
parallel safe
as $$
declare
    granted bigint[];
begin
    -- Asked here first, because a call costs more.
    if pg_catalog.current_setting('pgrag.library_ids', true) operator(pg_catalog.<>) ''
        and _pgrag.is_service()
    then
        return case
            when pg_catalog.current_setting('pgrag.library_ids') operator(pg_catalog.<>) '*'
            then pg_catalog.current_setting('pgrag.library_ids')::bigint[]
        end;
    end if;
    granted := array(select g.library_id from _pgrag.own_grants as g);
    return case
        when pg_catalog.array_position(granted, null) is null
            and pg_catalog.pg_has_role(
                current_user, pg_catalog.to_regrole('pgrag_admin'), 'usage'
            ) is not true
        then granted
    end;
end;
$$;

-- A service connects as the owner, changes to a role for each key, and says in pgrag.library_ids
-- what that key may see: '{1,5}', or '*' for everything. Anybody may change the setting, but it
-- counts only in a session that could do everything anyway.
create or replace function _pgrag.is_service()
returns boolean
language plpgsql
stable
parallel safe
as $$
begin
    return coalesce(
        pg_catalog.current_setting('pgrag.library_ids', true) operator(pg_catalog.<>) ''
            and pg_catalog.pg_has_role(
                session_user, pg_catalog.to_regrole('pgrag_admin'), 'member'
            ),
        false
    );
end;
$$;

create or replace function _pgrag.sees_every_library()
returns boolean
language plpgsql
stable
parallel safe
as $$
begin
    return _pgrag.visible_libraries() is null;
end;
$$;

create or replace function _pgrag.is_admin()
returns boolean
language plpgsql
stable
parallel safe
as $$
begin
    return pg_catalog.pg_has_role(
        current_user, pg_catalog.to_regrole('pgrag_admin'), 'usage'
    );
end;
$$;

-- In whose name something is recorded: the key that a service names, else the role.
create or replace function _pgrag.caller()
returns text
language plpgsql
stable
parallel safe
as $$
begin
    return case
        when _pgrag.is_service() then pg_catalog.current_setting('pgrag.caller', true)
        else current_user::pg_catalog.text
    end;
end;
$$;
