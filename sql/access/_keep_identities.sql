-- Who writes a library can give it neither the name of another one, which has jobs and evaluations
-- by its name, nor other ids to its versions, by which searches find passages.
create or replace function _pgrag.keep_identities()
returns void
language plpgsql
volatile
as $$
declare
    listed record;
begin
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

    -- A worker reads with its own rights, so only administrators make jobs that read any folder,
    -- and change them; others may cancel them.
    revoke update on pgrag.jobs from pgrag_writer;
    grant update (
        state, priority, attempts, failures, run_at, every, claim, worker, leased_until,
        is_cancelling, progress, report, started_at, finished_at
    ) on pgrag.jobs to pgrag_writer;
    if not exists (
        select from pg_policy as p
        where p.polrelid = 'pgrag.jobs'::regclass and p.polname = 'confined'
    ) then
        create policy confined on pgrag.jobs as restrictive for insert
            with check (confined or (select _pgrag.is_admin()));
        create policy confined_changes on pgrag.jobs as restrictive for update
            using (true)
            with check (
                confined
                or state = 'cancelled'
                or state = 'running' and is_cancelling
                or (select _pgrag.is_admin())
            );
    end if;
end;
$$;
