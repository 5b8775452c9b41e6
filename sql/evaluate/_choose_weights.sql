-- Coordinate search: one weight after the other takes the best value for the training questions,
-- until a round brings no gain. The weight of content is fixed, as the scale of the other weights.
-- Muted questions alone would undervalue titles and headings, because the fields that answer them
-- are muted; so a value is rejected if it worsens the unmuted questions of any kind.
create or replace function _pgrag.choose_weights(
    in_force jsonb,
    alpha_is_learnable boolean,
    out chosen jsonb,
    out proposed jsonb,
    out trials jsonb
)
language plpgsql
stable
parallel unsafe
as $$
declare
    -- A smaller gain is noise.
    worthwhile constant double precision := 0.0005;
    initial constant double precision[] := _pgrag.tuned_gains(in_force, false);
    best double precision := (_pgrag.weighed_gains(initial, initial)).gain;
    best_before double precision;
    weight record;
    current_value double precision;
    best_value double precision;
    value double precision;
    trial record;
begin
    chosen := in_force;
    trials := '[]';
    for round_number in 1..3 loop
        best_before := best;
        for weight in
            select g.* from _pgrag.tuning_grid() as g where alpha_is_learnable or g.name <> 'alpha'
        loop
            current_value := chosen #>> weight.path;
            best_value := current_value;
            foreach value in array weight.candidates loop
                continue when abs(value - current_value) < 1e-9
                    or (round_number > 1 and abs(value - best_value) > weight.nearby);
                trial := _pgrag.weighed_gains(
                    initial,
                    _pgrag.tuned_gains(jsonb_set(chosen, weight.path, to_jsonb(value)), false)
                );
                trials := trials || jsonb_build_object(
                    'round', round_number, 'setting', weight.name, 'value', value,
                    'ndcg@10', round(trial.gain::numeric, 5)
                );
                if trial.gain >= best + worthwhile and trial.fallen_kind is null then
                    best := trial.gain;
                    best_value := value;
                end if;
            end loop;
            chosen := jsonb_set(chosen, weight.path, to_jsonb(best_value));
        end loop;
        exit when best < best_before + worthwhile;
    end loop;

    -- Only the changed weights, in the form that configure_library takes.
    proposed := '{"field_weights": {}}';
    for weight in
        select g.path from _pgrag.tuning_grid() as g where chosen #> g.path <> in_force #> g.path
    loop
        proposed := jsonb_set(proposed, weight.path, chosen #> weight.path);
    end loop;
    if proposed -> 'field_weights' = '{}' then
        proposed := proposed - 'field_weights';
    end if;
end;
$$;

-- The tuned weights, the values to try, and the largest distance from the best value that later
-- rounds still try.
create or replace function _pgrag.tuning_grid()
returns table (
    name text,
    path text[],
    candidates double precision[],
    nearby double precision
)
language sql
immutable
parallel safe
as $$
    select g.name, pg_catalog.string_to_array(g.name, '.'), g.candidates, g.nearby
    from (values
        (
            'alpha', array(
                select v / 20.0::double precision from pg_catalog.generate_series(0, 20) as v
            ),
            0.1::double precision
        ),
        ('page_evidence', '{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}', 0.2),
        ('title_evidence', '{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}', 0.2),
        ('field_weights.title', '{0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8}', 2),
        ('field_weights.path', '{0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8}', 2),
        ('field_weights.url', '{0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8}', 2)
    ) as g (name, candidates, nearby);
$$;
