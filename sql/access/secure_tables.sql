-- Roles, their privileges and the policies of row-level security: again at every upgrade, so that
-- tables of a migration are covered, and roles that an administrator has made later.
create or replace function pgrag.secure_tables()
returns table (
    secured boolean,
    message text
)
language plpgsql
volatile
set search_path from current
as $$
declare
    missing text[];
    listed record;
begin
    missing := _pgrag.missing_roles();
    if cardinality(missing) > 0 then
        return query
        select false, format(
            'Role %s may not create pgrag''s roles. Ask a role with CREATEROLE to run: %s',
            current_user,
            (
                select string_agg(
                    case
                        when to_regrole(m.name) is null then format('create role %s; ', m.name)
                        else ''
                    end || format('grant %s to %I;', m.name, current_user),
                    ' '
                )
                from unnest(missing) as m (name)
            )
        );
        return;
    end if;

    grant select on all tables in schema pgrag to pgrag_reader, pgrag_writer;
    grant all on all tables in schema pgrag to pgrag_admin;
    grant usage on all sequences in schema pgrag to pgrag_writer, pgrag_admin;
    grant select on all tables in schema _pgrag to pgrag_reader, pgrag_writer, pgrag_admin;
    for listed in
        select format('pgrag.%I', k.name) as name, k.kind, k.condition, k.new_rows
        from _pgrag.kinds_of_tables() as k
    loop
        case listed.kind
            when 'private' then
                execute format('revoke all on %s from pgrag_reader, pgrag_writer', listed.name);
            when 'library' then
                execute format('grant insert, update, delete on %s to pgrag_writer', listed.name);
            when 'record' then
                execute format('grant insert on %s to pgrag_reader, pgrag_writer', listed.name);
            when 'cache' then
                -- A recorded search marks the vector of its query as used.
                execute format(
                    'grant update (used_at) on %s to pgrag_reader, pgrag_writer', listed.name
                );
            else
                null;
        end case;
        perform _pgrag.set_policy(listed.name::regclass, listed.condition, listed.new_rows);
    end loop;

    -- Writers of a library must not give it the name of another one, which jobs and evaluations
    -- go by, nor change the ids of its versions, by which searches find passages.
    revoke insert, update on pgrag.libraries, pgrag.versions from pgrag_writer;
    for listed in
        select
            a.attrelid::regclass as name,
            string_agg(quote_ident(a.attname), ', ') as insertable,
            string_agg(quote_ident(a.attname), ', ') filter (
                where a.attname not in ('library_id', 'version_id', 'name')
            ) as changeable
        from pg_attribute as a
        where a.attrelid in ('pgrag.libraries'::regclass, 'pgrag.versions'::regclass)
            and a.attnum > 0
            and not a.attisdropped
            and a.attidentity = ''
        group by a.attrelid
    loop
        execute format(
            'grant insert (%s), update (%s) on %s to pgrag_writer',
            listed.insertable, listed.changeable, listed.name
        );
    end loop;

    -- Triggers note changed rows with the rights of whoever changes the table of the user.
    grant insert on pgrag.changed_rows to public;
    if not exists (
        select from pg_policy as p
        where p.polrelid = 'pgrag.changed_rows'::regclass and p.polname = 'noted'
    ) then
        create policy noted on pgrag.changed_rows for insert with check (true);
    end if;

    -- A worker reads with its own rights, so only administrators make jobs that read any folder,
    -- and change them; others may cancel them. Priorities are the administrators'.
    revoke update on pgrag.jobs from pgrag_writer;
    grant update (
        state, attempts, failures, run_at, every, claim, worker, leased_until, is_cancelling,
        progress, report, reserved_bytes, uploaded_bytes, started_at, finished_at
    ) on pgrag.jobs to pgrag_writer;
    if not exists (
        select from pg_policy as p
        where p.polrelid = 'pgrag.jobs'::regclass and p.polname = 'confined'
    ) then
        create policy confined on pgrag.jobs as restrictive for insert
            with check (confined and priority = 0 or (select _pgrag.is_admin()));
        create policy confined_changes on pgrag.jobs as restrictive for update
            using (true)
            with check (
                confined
                or state = 'cancelled'
                or state = 'running' and is_cancelling
                or (select _pgrag.is_admin())
            );
    end if;
    return query select true, 'Roles see the libraries that were granted to them.'::text;
end;
$$;

comment on function pgrag.secure_tables is
'Makes the roles pgrag_reader (searches), pgrag_writer (also changes its libraries) and pgrag_admin
(everything), gives them their privileges, and restricts every table with rows of a library, and
every record of searches, by row-level security: a role sees the libraries that grant_libraries gave
it and its own searches, a member of pgrag_admin and the owner see all. An upgrade calls it. Returns
whether everything is secured; if the owner may neither create roles nor join them, nothing is, and
message has the statements that somebody else has to run before the next upgrade.';

-- Makes the roles that are missing, if the caller may, and lets the caller change to each.
create or replace function _pgrag.missing_roles()
returns text[]
language plpgsql
volatile
as $$
declare
    missing text[];
    new_role text;
begin
    -- Another database of this server may be making the same roles.
    perform pg_advisory_xact_lock(hashtextextended('pgrag roles', 0));
    missing := array(
        select r.name
        from unnest('{pgrag_reader, pgrag_writer, pgrag_admin}'::text[]) as r (name)
        where to_regrole(r.name) is null
            or not pg_has_role(current_user, to_regrole(r.name), 'member')
    );
    foreach new_role in array missing loop
        begin
            if to_regrole(new_role) is null then
                execute format('create role %I', new_role);
            end if;
            execute format('grant %I to current_user with set true', new_role);
            missing := array_remove(missing, new_role);
        exception
            when duplicate_object or unique_violation then
                missing := array_remove(missing, new_role);
            when insufficient_privilege then
                null;
        end;
    end loop;
    return missing;
end;
$$;

-- What a table holds: rows of a library, records of searches, what a service keeps for each caller
-- (cache), what only administrators read (private), or what all roles read (shared). condition: the
-- rows that a role may see. new_rows: what holds for rows that it writes. Their version
-- belongs to their library, because searches find passages by versions; a vector has the dimensions
-- of its model, because any other would raise an error in every search; and nobody has a table read
-- in the name of another role.
create or replace function _pgrag.kinds_of_tables()
returns table (
    name name,
    kind text,
    condition text,
    new_rows text
)
language sql
stable
parallel safe
as $$
    -- unless: a function that is true for callers who see every row.
    with of_tables (name, kind, condition, unless) as (
        values
            ('role_libraries', 'shared', 'role_name = current_user::text', 'is_admin'),
            ('configuration_versions', 'private', 'false', 'is_admin'),
            ('keys', 'private', 'false', 'is_admin'),
            ('key_secrets', 'private', 'false', 'is_admin'),
            ('key_usage', 'private', 'false', 'is_admin'),
            ('audit', 'private', 'false', 'is_admin'),
            ('searches', 'record', 'caller = (select _pgrag.caller())', 'is_admin'),
            ('answers', 'record', 'caller = (select _pgrag.caller())', 'is_admin'),
            ('query_vectors', 'cache', 'caller = (select _pgrag.caller())', 'is_admin')
    ),
    -- All other tables: by the first of these columns that they have.
    of_columns (nth, name, kind, condition, unless) as (
        values
            (
                1, 'search_id', 'record',
                'exists (select from pgrag.searches as s where s.search_id = %I.search_id)',
                'is_admin'
            ),
            (
                2, 'library_id', 'library',
                -- Null, which is not false, means every library. The case is estimated to be true
                -- of every row: with "= any" alone plans would expect few rows.
                'case when (library_id = any ((select _pgrag.visible_libraries())::bigint[]))'
                ' is not false then true end is not null',
                null
            ),
            (
                3, 'library', 'library', 'library in (select l.name from pgrag.libraries as l)',
                'sees_every_library'
            ),
            (
                4, 'set_id', 'library',
                'set_id in (select s.set_id from pgrag.evaluation_sets as s)', 'sees_every_library'
            ),
            (
                5, 'run_id', 'library',
                'run_id in (select r.run_id from pgrag.evaluation_runs as r)', 'sees_every_library'
            ),
            (
                6, 'job_id', 'library', 'job_id in (select j.job_id from pgrag.jobs as j)',
                'sees_every_library'
            )
    )
    select
        c.relname,
        coalesce(t.kind, 'shared'),
        format(t.condition, c.relname) || coalesce(' or (select _pgrag.' || t.unless || '())', ''),
        case when t.kind in ('library', 'record', 'cache') then w.new_rows end
    from pg_class as c
    left join lateral (
        select 0 as nth, s.kind, s.condition, s.unless
        from of_tables as s
        where s.name = c.relname
        union all
        select o.nth, o.kind, o.condition, o.unless
        from of_columns as o
        join pg_attribute as a on a.attrelid = c.oid and a.attname = o.name
        order by nth
        limit 1
    ) as t on true
    cross join lateral (
        select string_agg(r.rule, ' and ' order by a.attnum) as new_rows
        from pg_attribute as a
        -- By name: pgvector may be in a schema that the caller does not search.
        join pg_type as y on y.oid = a.atttypid
        cross join lateral (
            select case
                when a.attname = 'version_id' and c.relname <> 'versions'
                then '(library_id, version_id)'
                    ' in (select v.library_id, v.version_id from pgrag.versions as v)'
                when a.attname = 'indexed_by'
                then '(indexed_by = current_user::text or (select _pgrag.is_admin()))'
                when y.typname = 'sparsevec'
                then format('(%I <#> ''{}/1000000000''::sparsevec) is distinct from 1', a.attname)
                when y.typname = 'halfvec'
                then format(
                    '(model_id, vector_dims(%I)) in ('
                    'select m.model_id, m.dimensions from pgrag.embedding_models as m)',
                    a.attname
                )
            end as rule
        ) as r
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    ) as w
    where c.relnamespace = 'pgrag'::regnamespace and c.relkind = 'r';
$$;

-- A policy is replaced only if it differs, because that waits for everybody who reads the table.
create or replace function _pgrag.set_policy(
    secured regclass,
    condition text,
    new_rows text
)
returns void
language plpgsql
volatile
as $$
declare
    -- What a role writes it must be able to see.
    checked constant text := concat_ws(' and ', format('(%s)', condition), new_rows);
    description constant text := format('using %s with check %s', condition, checked);
begin
    if condition is null then
        return;
    end if;
    if not (select c.relrowsecurity from pg_class as c where c.oid = secured) then
        execute format('alter table %s enable row level security', secured);
    end if;
    if description = (
        select obj_description(p.oid, 'pg_policy')
        from pg_policy as p
        where p.polrelid = secured and p.polname = 'visible'
    ) then
        return;
    end if;
    execute format('drop policy if exists visible on %s', secured);
    execute format(
        'create policy visible on %s using (%s) with check (%s)', secured, condition, checked
    );
    execute format('comment on policy visible on %s is %L', secured, description);
end;
$$;
