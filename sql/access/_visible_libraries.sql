-- What the policies of row-level security ask, once for each table of a statement. Most callers see
-- few libraries: a policy asks for the list first, and only then whether the caller sees them all.
-- None of these may raise: the roles of pgrag may be missing where a dump was restored.
create or replace function _pgrag.visible_libraries()
returns bigint[]
language plpgsql
stable
parallel safe
as $$
begin
    -- Asked here first, because a call costs more, and never null: null would ask the rest as well.
    -- A search asks twenty times.
    if coalesce(current_setting('pgrag.library_ids', true), '') <> '' and _pgrag.is_service() then
        return nullif(current_setting('pgrag.library_ids'), '*')::bigint[];
    end if;
    return array(
        select g.library_id from pgrag.role_libraries as g where g.role_name = current_user::text
    );
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
    return coalesce(current_setting('pgrag.library_ids', true), '') <> ''
        and pg_has_role(session_user, to_regrole('pgrag_admin'), 'member');
end;
$$;

create or replace function _pgrag.sees_every_library()
returns boolean
language plpgsql
stable
parallel safe
as $$
begin
    if _pgrag.is_service() then
        return current_setting('pgrag.library_ids') = '*';
    end if;
    return _pgrag.is_admin() or exists (
        select
        from pgrag.role_libraries as g
        where g.role_name = current_user::text and g.library_id is null
    );
end;
$$;

create or replace function _pgrag.is_admin()
returns boolean
language plpgsql
stable
parallel safe
as $$
begin
    return pg_has_role(current_user, to_regrole('pgrag_admin'), 'usage');
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
        when _pgrag.is_service() then current_setting('pgrag.caller', true)
        else current_user::text
    end;
end;
$$;
