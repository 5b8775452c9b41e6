-- Coordinate search: one setting after the other takes the best value for the training questions,
-- until a round brings no gain. The weight of content is fixed, as the scale of the other weights.
-- Muted questions alone would undervalue titles and headings, because the fields that answer them
-- are muted; so a value is rejected if it worsens the unmuted questions of any kind.
create or replace function _pgrag.choose_settings(
    in_force jsonb,
    frozen text[],
    out chosen jsonb,
    out proposed jsonb,
    out trials jsonb
)
returns record
language plpgsql
stable
parallel unsafe
as $$
declare
    -- A smaller gain is noise.
    worthwhile constant double precision := 0.0005;
    tolerated constant double precision := 0.001;
    initial record;
    best double precision;
    best_before double precision;
    coordinate record;
    current_value double precision;
    best_value double precision;
    value double precision;
    trial record;
begin
    select g.* into initial from _pgrag.training_gains(in_force) as g;
    best := initial.gain;
    chosen := in_force;
    trials := '[]';
    for round_number in 1..3 loop
        best_before := best;
        for coordinate in
            select g.name, g.path, g.candidates, g.nearby
            from _pgrag.tuning_grid() as g
            where g.name <> all (frozen)
        loop
            current_value := chosen #>> coordinate.path;
            best_value := current_value;
            foreach value in array coordinate.candidates loop
                continue when abs(value - current_value) < 1e-9
                    or (round_number > 1 and abs(value - best_value) > coordinate.nearby);
                select g.*
                into trial
                from _pgrag.training_gains(
                    jsonb_set(chosen, coordinate.path, to_jsonb(value))
                ) as g;
                trials := trials || jsonb_build_object(
                    'round', round_number, 'setting', coordinate.name, 'value', value,
                    'ndcg@10', round(trial.gain::numeric, 5)
                );
                if trial.gain >= best + worthwhile and not exists (
                    select
                    from jsonb_each_text(initial.unmuted) as f
                    where (trial.unmuted ->> f.key)::double precision
                        < f.value::double precision - tolerated
                ) then
                    best := trial.gain;
                    best_value := value;
                end if;
            end loop;
            chosen := jsonb_set(chosen, coordinate.path, to_jsonb(best_value));
        end loop;
        exit when best < best_before + worthwhile;
    end loop;

    -- Only the changed settings, in the form that configure_library takes.
    proposed := '{"field_weights": {}}';
    for coordinate in
        select g.path from _pgrag.tuning_grid() as g where chosen #> g.path <> in_force #> g.path
    loop
        proposed := jsonb_set(proposed, coordinate.path, chosen #> coordinate.path);
    end loop;
    if proposed -> 'field_weights' = '{}' then
        proposed := proposed - 'field_weights';
    end if;
end;
$$;

-- The tuned settings that exist in this engine, the values to try, and the largest distance from
-- the best value that later rounds still try.
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
            1, 'alpha', array(
                select v / 20.0::double precision from pg_catalog.generate_series(0, 20) as v
            ),
            0.1::double precision
        ),
        (2, 'page_evidence', '{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}', 0.2),
        (3, 'title_evidence', '{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}', 0.2),
        (4, 'field_weights.title', '{0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8}', 2),
        (5, 'field_weights.path', '{0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8}', 2),
        (6, 'field_weights.url', '{0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8}', 2)
    ) as g (nth, name, candidates, nearby)
    where pgrag.default_settings() #> pg_catalog.string_to_array(g.name, '.') is not null
    order by g.nth;
$$;

-- The mean gain over the training questions, and the means by kind without muting.
create or replace function _pgrag.training_gains(
    settings jsonb,
    out gain double precision,
    out unmuted jsonb
)
returns record
language sql
stable
parallel unsafe
as $$
    with gains as materialized (
        select g.* from _pgrag.tuned_gains(training_gains.settings, false) as g
    )
    select
        (
            select avg(g.gain)
            from gains as g
            where g.is_muted or g.kind not in ('heading', 'title')
        ),
        (
            select jsonb_object_agg(k.kind, k.gain)
            from (
                select g.kind, avg(g.gain) as gain
                from gains as g
                where not g.is_muted
                group by g.kind
            ) as k
        );
$$;
