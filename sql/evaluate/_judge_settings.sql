-- Decides setting by setting, with those kept so far in force: what is best for the training
-- questions is kept if the validation questions gain significantly and no kind of question loses.
-- The weights of the ranking depend on each other, so they are one decision.
create or replace function _pgrag.judge_settings(
    run pgrag.tuning_runs,
    alpha_is_learnable boolean
)
returns pgrag.tuning_runs
language plpgsql
stable
parallel unsafe
as $$
declare
    in_force constant jsonb := _pgrag.settings_in_force(run.library_id);
    chosen jsonb := in_force;
    -- The weights are chosen for plain searches.
    plain constant jsonb := in_force || jsonb_build_object(
        'query_expansion', 'none',
        'aggregate', 'max',
        'graph', in_force -> 'graph' || '{"search": false}'
    );
    weights record;
    switch record;
    candidate jsonb;
    settings jsonb;
    before double precision[];
    after double precision[];
    gain double precision;
    best jsonb;
    best_gain double precision;
    best_after double precision[];
    -- The last setting that is kept: its questions judge all settings together.
    deciding text := 'weights';
begin
    select w.* into weights from _pgrag.choose_weights(plain, alpha_is_learnable) as w;
    run.trials := weights.trials;
    run.verdicts := run.verdicts || _pgrag.tuning_verdict(
        'weights', weights.proposed, _pgrag.tuned_gains(plain),
        _pgrag.tuned_gains(weights.chosen), run
    );
    if (run.verdicts #>> '{0,kept}')::boolean then
        run.proposed := weights.proposed;
        chosen := weights.chosen || jsonb_build_object(
            'query_expansion', in_force -> 'query_expansion',
            'aggregate', in_force -> 'aggregate',
            'graph', in_force -> 'graph'
        );
    end if;
    for switch in select s.* from _pgrag.tuned_switches(run.library_id) as s loop
        -- Only a list of pages is aggregated, so the others are judged by the best passage.
        settings := chosen
            || case when switch.name = 'aggregate' then '{}' else '{"aggregate": "max"}' end::jsonb;
        before := _pgrag.tuned_gains(settings);
        best := null;
        for candidate in
            select v from jsonb_array_elements(switch.candidates) as v
            where v <> settings #> switch.path
        loop
            after := _pgrag.tuned_gains(jsonb_set(settings, switch.path, candidate));
            gain := _pgrag.compared_gains(switch.name, before, after, false, run.seed)
                ->> 'difference';
            run.trials := run.trials || jsonb_build_object(
                'round', 1, 'setting', switch.name, 'value', candidate, 'gain', gain
            );
            if best is null or gain > best_gain then
                best_gain := gain;
                best := candidate;
                best_after := after;
            end if;
        end loop;
        run.verdicts := run.verdicts
            || _pgrag.tuning_verdict(switch.name, best, before, best_after, run);
        if (run.verdicts #>> '{-1,kept}')::boolean then
            deciding := switch.name;
            run.proposed := run.proposed || case switch.name
                when 'graph' then jsonb_build_object('graph', jsonb_build_object('search', best))
                else jsonb_build_object(switch.name, best)
            end;
            chosen := jsonb_set(chosen, switch.path, best);
        end if;
    end loop;
    before := _pgrag.tuned_gains(in_force);
    after := _pgrag.tuned_gains(chosen);
    run.training := _pgrag.compared_gains(deciding, before, after, false, run.seed);
    run.validation := _pgrag.compared_gains(deciding, before, after, true, run.seed);
    return run;
end;
$$;

create or replace function _pgrag.settings_in_force(
    library_id bigint
)
returns jsonb
language sql
stable
parallel safe
as $$
    select _pgrag.effective_settings(l.settings)
        || jsonb_build_object('alpha', _pgrag.alpha(l.settings, m.alpha))
    from pgrag.libraries as l
    left join pgrag.embedding_models as m on m.model_id = l.model_id
    where l.library_id = settings_in_force.library_id;
$$;

-- The settings other than weights, in the order of their decisions, with their possible values.
create or replace function _pgrag.tuned_switches(
    owner_id bigint
)
returns table (
    name text,
    path text[],
    candidates jsonb
)
language sql
stable
parallel safe
as $$
    select 'query_expansion', '{query_expansion}'::text[],
        case
            when exists (
                select from pgrag.synonyms as y where y.library_id = tuned_switches.owner_id
            ) then '["none", "feedback", "synonyms", "both"]'
            else '["none", "feedback"]'
        end::jsonb
    union all
    select 'graph', '{graph,search}', '[false, true]'
    where exists (
        select from pgrag.edges as e
        where e.library_id = tuned_switches.owner_id and e.state = 'resolved'
    )
    union all
    select 'aggregate', '{aggregate}', '["max", "mean"]';
$$;

-- The evidence for a change of a setting, and whether it is enough.
create or replace function _pgrag.tuning_verdict(
    setting text,
    value jsonb,
    before double precision[],
    after double precision[],
    run pgrag.tuning_runs
)
returns jsonb
language plpgsql
stable
parallel unsafe
as $$
declare
    enough constant integer := 50;
    -- A library's own questions are not those of its readers: only large gains carry over.
    significance constant double precision := case run.source when 'library' then 0.01 else 0.05
        end;
    training constant jsonb := _pgrag.compared_gains(setting, before, after, false, run.seed);
    validation constant jsonb := _pgrag.compared_gains(setting, before, after, true, run.seed);
    question_count constant integer := coalesce((training ->> 'queries')::integer, 0)
        + coalesce((validation ->> 'queries')::integer, 0);
    fallen constant text := (_pgrag.weighed_gains(before, after)).fallen_kind;
    complaint constant text := case
        when question_count < enough
        then format('%s questions decide; %s are needed.', question_count, enough)
        when before = after then 'No other value is better on the training questions.'
        when (training ->> 'difference')::numeric < 0.0005
        then 'The training questions gain nothing.'
        when (validation ->> 'difference')::numeric < 0.002
        then 'The validation questions gain less than 0.002.'
        when (validation ->> 'p_value')::double precision >= significance
        then 'The gain of the validation questions may be chance.'
        when fallen is not null
        then format('Unmuted questions of kind %s rank worse.', fallen)
    end;
begin
    return jsonb_build_object(
        'setting', setting,
        'value', value,
        'training', training,
        'validation', validation,
        'kept', complaint is null,
        'reason', coalesce(complaint, 'Significantly better on the validation questions.')
    );
end;
$$;
