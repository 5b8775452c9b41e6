-- Takes back what the last tuning changed, and nothing that somebody has changed by hand since.
create or replace function pgrag.undo_tuning(
    library text
)
returns pgrag.tuning_runs
language plpgsql
volatile
set search_path from current
as $$
declare
    run pgrag.tuning_runs;
    tuned text[] := array(select distinct g.path[1] from pgrag._tuning_grid() as g);
    owner record;
    restored jsonb;
begin
    select l.library_id, l.name, l.settings
    into owner
    from pgrag.libraries as l
    where l.library_id = pgrag._library_id(undo_tuning.library)
    for no key update;
    select r.*
    into run
    from pgrag.tuning_runs as r
    where r.library_id = owner.library_id and r.outcome = 'accepted' and r.undone_at is null
    order by r.tuning_id desc
    limit 1;
    if run.tuning_id is null then
        raise exception 'There is no tuning of library % to undo.', quote_literal(owner.name)
            using errcode = 'PGR01', hint = 'See tuning_history for what was done.';
    end if;
    if pgrag._only_settings(owner.settings, tuned)
        <> pgrag._only_settings(run.settings_after, tuned)
    then
        raise exception 'The settings of library % were changed after its tuning.',
            quote_literal(owner.name)
            using errcode = 'PGR01',
                hint = format(
                    'Set them by configure_library; before the tuning they were %s.',
                    run.settings_before
                );
    end if;
    restored := owner.settings - tuned || pgrag._only_settings(run.settings_before, tuned);
    update pgrag.libraries as l
    set settings = restored
    where l.library_id = owner.library_id;
    if pgrag.effective_settings(owner.settings) - pgrag._query_settings()
        <> pgrag.effective_settings(restored) - pgrag._query_settings()
    then
        perform pgrag._rebuild_statistics(
            owner.library_id, pgrag.effective_settings(restored)
        );
    end if;
    update pgrag.tuning_runs as r
    set undone_at = clock_timestamp()
    where r.tuning_id = run.tuning_id
    returning r.* into run;
    return run;
end;
$$;

comment on function pgrag.undo_tuning(text) is
'Gives a library back the settings that its last accepted tuning replaced, with its impacts, in one
transaction; done again, those before that. Returns the run, now with undone_at. Other settings stay
as they are. Errors: PGR01 where there is nothing to undo, or where the settings were changed after
the tuning; PGR02.';

create or replace function pgrag._only_settings(
    settings jsonb,
    names text[]
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select coalesce(pg_catalog.jsonb_object_agg(s.key, s.value), '{}')
    from pg_catalog.jsonb_each(_only_settings.settings) as s
    where s.key = any (_only_settings.names);
$$;
