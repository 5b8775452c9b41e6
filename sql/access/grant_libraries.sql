-- Grants are by library, not by name: a library that is removed takes its grants along, and another
-- one of its name has to be granted again.
create or replace function pgrag.grant_libraries(
    role_name text,
    libraries text[]
)
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    if role_name is null or to_regrole(quote_ident(role_name)) is null then
        raise exception 'There is no role %.', quote_nullable(role_name)
            using errcode = 'PGR01', hint = 'Create it first: create role NAME login.';
    end if;
    insert into pgrag.role_libraries (role_name, library_id)
    select grant_libraries.role_name, t.library_id
    from _pgrag.libraries_to_grant(libraries) as t
    on conflict do nothing;
end;
$$;

comment on function pgrag.grant_libraries is
'Lets a role see libraries; "*" stands for every library, also for later ones. Privileges on tables
are another matter: make the role a member of pgrag_reader (grant pgrag_reader to role), or of
pgrag_writer, who may also change them. The grant is to the role itself, not to its members. Errors:
PGR01 for a role that does not exist and for no library, PGR02 for an unknown library.';

create or replace function _pgrag.libraries_to_grant(
    libraries text[]
)
returns table (
    library_id bigint
)
language plpgsql
stable
parallel safe
as $$
begin
    if coalesce(cardinality(libraries), 0) = 0 then
        raise exception 'libraries names no library.'
            using errcode = 'PGR01', hint = 'Name libraries, or ''*'' for all of them.';
    end if;
    return query
    select case when l.name <> '*' then _pgrag.library_id(l.name) end
    from unnest(libraries) as l (name);
end;
$$;
