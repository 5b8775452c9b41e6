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
    tuned text[];
    owner pgrag.libraries := _pgrag.lock_library(undo_tuning.library);
    restored jsonb;
    is_unchanged boolean;
begin
    -- The stored settings, without the defaults.
    select l.settings into owner.settings
    from pgrag.libraries as l
    where l.library_id = owner.library_id;
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
    tuned := array(select p from jsonb_object_keys(run.proposed) as p);
    select
        bool_and(owner.settings -> n.name is not distinct from run.settings_after -> n.name),
        owner.settings - tuned || coalesce(
            jsonb_object_agg(n.name, run.settings_before -> n.name)
                filter (where run.settings_before ? n.name),
            '{}'
        )
    into is_unchanged, restored
    from unnest(tuned) as n (name);
    if not is_unchanged then
        raise exception 'The settings of library % were changed after its tuning.',
            quote_literal(owner.name)
            using errcode = 'PGR01',
                hint = format(
                    'Set them by configure_library; before the tuning they were %s.',
                    run.settings_before
                );
    end if;
    update pgrag.libraries as l
    set settings = restored
    where l.library_id = owner.library_id;
    if _pgrag.impact_settings(_pgrag.effective_settings(owner.settings))
        <> _pgrag.impact_settings(_pgrag.effective_settings(restored))
    then
        perform _pgrag.rebuild_statistics(owner.library_id, _pgrag.effective_settings(restored));
    end if;
    update pgrag.tuning_runs as r
    set undone_at = clock_timestamp()
    where r.tuning_id = run.tuning_id
    returning r.* into run;
    return run;
end;
$$;

comment on function pgrag.undo_tuning is
'Restores the settings that the last accepted tuning of a library replaced, and the impacts, in one
transaction; a second call reverts the tuning before that. Returns the run, now with undone_at.
Other settings do not change. Errors: PGR01 if there is nothing to undo, or if the settings were
changed after the tuning; PGR02.';
