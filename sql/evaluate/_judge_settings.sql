-- Decides setting by setting, with those kept so far in force: what is best for the training
-- questions is kept if the validation questions gain surely and no kind of question loses. The
-- weights of the ranking are one decision, because they depend on each other.
create or replace function _pgrag.judge_settings(
    owner_id bigint,
    in_force jsonb,
    frozen text[],
    significance double precision,
    seed bigint,
    out chosen jsonb,
    out proposed jsonb,
    out trials jsonb,
    out verdicts jsonb
)
returns record
language plpgsql
volatile
as $$
declare
    ranking record;
    verdict jsonb;
    switch record;
    before jsonb;
    after jsonb;
    best jsonb;
    value jsonb;
    gain double precision;
    best_gain double precision;
begin
    if in_force ->> 'query_expansion' <> 'none' then
        perform _pgrag.gather_expanded_terms(
            owner_id, in_force ->> 'query_expansion', in_force
        );
    end if;
    -- The weights are chosen for plain searches.
    before := in_force || jsonb_build_object(
        'query_expansion', 'none',
        'aggregate', 'max',
        'graph', in_force -> 'graph' || '{"search": false}'
    );
    select c.* into ranking from _pgrag.choose_settings(before, frozen) as c;
    trials := ranking.trials;
    proposed := '{}';
    chosen := in_force;
    verdict := _pgrag.tuning_verdict(
        'weights', ranking.proposed, before, ranking.chosen, significance, seed
    );
    verdicts := jsonb_build_array(verdict);
    if (verdict ->> 'kept')::boolean then
        proposed := ranking.proposed;
        chosen := ranking.chosen || jsonb_build_object(
            'query_expansion', in_force -> 'query_expansion',
            'aggregate', in_force -> 'aggregate',
            'graph', in_force -> 'graph'
        );
    end if;
    for switch in
        select s.* from _pgrag.tuned_switches(owner_id) as s where s.name <> all (frozen)
    loop
        -- Only a list of pages is aggregated, so the others are judged by the best passage.
        before := chosen
            || case when switch.name = 'aggregate' then '{}' else '{"aggregate": "max"}' end::jsonb;
        best := null;
        for value in
            select v from jsonb_array_elements(switch.candidates) as v
            where v <> before #> switch.path
        loop
            if switch.name = 'query_expansion' and value <> '"none"' then
                perform _pgrag.gather_expanded_terms(owner_id, value #>> '{}', before);
            end if;
            gain := (
                _pgrag.compared_gains(
                    before, jsonb_set(before, switch.path, value), false, seed, switch.name
                ) ->> 'difference'
            )::double precision;
            trials := trials || jsonb_build_object(
                'round', 1, 'setting', switch.name, 'value', value, 'gain', gain
            );
            if best is null or gain > best_gain then
                best_gain := gain;
                best := value;
            end if;
        end loop;
        after := jsonb_set(before, switch.path, best);
        verdict := _pgrag.tuning_verdict(
            switch.name, best, before, after, significance, seed
        );
        verdicts := verdicts || verdict;
        if (verdict ->> 'kept')::boolean then
            proposed := proposed || case switch.name
                when 'graph' then jsonb_build_object('graph', jsonb_build_object('search', best))
                else jsonb_build_object(switch.name, best)
            end;
            chosen := jsonb_set(chosen, switch.path, best);
        end if;
    end loop;
end;
$$;

-- The settings that are no numbers, the values that they may take in this library, in the order in
-- which they are judged.
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
    select s.name, s.path::text[], s.candidates::jsonb
    from (values
        (
            1, 'query_expansion', '{query_expansion}',
            case
                when exists (
                    select from pgrag.synonyms as y
                    where y.library_id = tuned_switches.owner_id
                ) then '["none", "feedback", "synonyms", "both"]'
                else '["none", "feedback"]'
            end,
            true
        ),
        (
            2, 'graph', '{graph,search}', '[false, true]',
            exists (
                select from pgrag.edges as e
                where e.library_id = tuned_switches.owner_id and e.state = 'resolved'
            )
        ),
        (3, 'aggregate', '{aggregate}', '["max", "mean"]', true)
    ) as s (nth, name, path, candidates, is_possible)
    where s.is_possible
    order by s.nth;
$$;

-- What speaks for a change of settings, and whether that is enough. value: the change as told.
create or replace function _pgrag.tuning_verdict(
    setting text,
    value jsonb,
    before jsonb,
    after jsonb,
    significance double precision,
    seed bigint
)
returns jsonb
language plpgsql
stable
parallel unsafe
as $$
declare
    enough constant integer := 50;
    training jsonb := _pgrag.compared_gains(before, after, false, seed, setting);
    validation jsonb := _pgrag.compared_gains(before, after, true, seed, setting);
    question_count constant integer := coalesce((training ->> 'queries')::integer, 0)
        + coalesce((validation ->> 'queries')::integer, 0);
    fallen constant text := _pgrag.fallen_kind(before, after);
    complaint constant text := case
        when before = after then 'No other values serve the training questions better.'
        when question_count < enough
        then format('%s questions can tell; %s are needed.', question_count, enough)
        when (training ->> 'difference')::numeric < 0.0005
        then 'The training questions gain nothing.'
        when (validation ->> 'difference')::numeric < 0.002
        then 'The validation questions gain less than 0.002.'
        when (validation ->> 'p_value')::double precision >= significance
        then 'The gain of the validation questions may be chance.'
        when fallen is not null
        then format('Unmuted questions of kind %s find less.', fallen)
    end;
begin
    return jsonb_build_object(
        'setting', setting,
        'value', value,
        'training', training,
        'validation', validation,
        'kept', complaint is null,
        'reason', coalesce(complaint, 'Surely better on the validation questions.')
    );
end;
$$;

-- A kind of question that finds its pages worse where nothing is muted, which muted questions alone
-- would not show. Null if there is none.
create or replace function _pgrag.fallen_kind(
    before jsonb,
    after jsonb
)
returns text
language sql
stable
parallel unsafe
as $$
    select o.kind
    from (values (false), (true)) as half (is_validation)
    cross join lateral _pgrag.tuned_gains(fallen_kind.before, half.is_validation) as o
    join lateral _pgrag.tuned_gains(fallen_kind.after, half.is_validation) as n
        on n.question_number = o.question_number and n.is_muted = o.is_muted
    where not o.is_muted
    group by o.kind
    having avg(n.gain) < avg(o.gain) - 0.001
    order by avg(n.gain) - avg(o.gain)
    limit 1;
$$;
