-- Coordinate search: one setting after the other takes the value that serves the training questions
-- best, until a round brings nothing more. The content's weight stays, as the scale of the others.
-- Muted questions alone would have it that titles and headings are worth little, since what asks
-- for those is muted; so no value is taken by which the questions of one kind, unmuted, are served
-- worse.
create or replace function pgrag._choose_settings(
    settings jsonb,
    frozen text[],
    out chosen jsonb,
    out trials jsonb
)
returns record
language plpgsql
stable
parallel restricted
set search_path from current
as $$
declare
    -- Less is noise, and every move shall have its reason.
    worthwhile constant double precision := 0.0005;
    tolerated constant double precision := 0.001;
    best double precision := pgrag._mean_gain(settings, false);
    floor constant jsonb := pgrag._unmuted_gains(settings);
    best_before double precision;
    coordinate record;
    candidate double precision;
    value double precision;
    mean double precision;
begin
    chosen := settings;
    trials := '[]';
    for round_number in 1..3 loop
        best_before := best;
        for coordinate in
            select g.name, g.path, g.candidates, g.nearby
            from pgrag._tuning_grid() as g
            where g.name <> all (frozen)
        loop
            candidate := (chosen #>> coordinate.path)::double precision;
            foreach value in array coordinate.candidates loop
                continue when abs(value - (chosen #>> coordinate.path)::double precision) < 1e-9
                    or (round_number > 1 and abs(value - candidate) > coordinate.nearby);
                mean := pgrag._mean_gain(
                    jsonb_set(chosen, coordinate.path, to_jsonb(value)), false
                );
                trials := trials || jsonb_build_object(
                    'round', round_number, 'setting', coordinate.name, 'value', value,
                    'ndcg@10', round(mean::numeric, 5)
                );
                if mean >= best + worthwhile and pgrag._reaches(
                    pgrag._unmuted_gains(jsonb_set(chosen, coordinate.path, to_jsonb(value))),
                    floor,
                    tolerated
                ) then
                    best := mean;
                    candidate := value;
                end if;
            end loop;
            chosen := jsonb_set(chosen, coordinate.path, to_jsonb(candidate));
        end loop;
        exit when best < best_before + worthwhile;
    end loop;
end;
$$;

-- The settings that are tuned, as far as this engine has them, the values that are tried, and how
-- far from the best one so far a later round still looks.
create or replace function pgrag._tuning_grid()
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
        (1, 'alpha', pgrag._shares(20), 0.1::double precision),
        (2, 'page_evidence', pgrag._shares(10), 0.2),
        (3, 'title_evidence', pgrag._shares(10), 0.2),
        (4, 'field_weights.title', '{0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8}'::double precision[], 2),
        (5, 'field_weights.path', '{0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8}'::double precision[], 2),
        (6, 'field_weights.url', '{0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8}'::double precision[], 2)
    ) as g (place, name, candidates, nearby)
    where pgrag.default_settings() #> pg_catalog.string_to_array(g.name, '.') is not null
    order by g.place;
$$;

create or replace function pgrag._mean_gain(
    settings jsonb,
    on_validation boolean
)
returns double precision
language plpgsql
stable
parallel restricted
set search_path from current
as $$
begin
    return (select avg(g.gain) from pgrag._tuned_gains(settings, on_validation) as g);
end;
$$;

-- The training questions' means by kind, with nothing muted.
create or replace function pgrag._unmuted_gains(
    settings jsonb
)
returns jsonb
language plpgsql
stable
parallel restricted
set search_path from current
as $$
begin
    return (
        select jsonb_object_agg(k.kind, k.gain)
        from (
            select q.kind, avg(g.gain) as gain
            from pgrag._tuned_gains(settings, false, false) as g
            join pg_temp.tuning_queries as q on q.query_number = g.query_number
            group by q.kind
        ) as k
    );
end;
$$;

create or replace function pgrag._reaches(
    gains jsonb,
    floor jsonb,
    tolerated double precision
)
returns boolean
language sql
immutable
parallel safe
as $$
    select not exists (
        select
        from pg_catalog.jsonb_each(_reaches.floor) as f
        where (_reaches.gains ->> f.key)::double precision
            < f.value::double precision - _reaches.tolerated
    );
$$;

-- Two settings side by side on the same questions: means, their difference with a 95 % confidence
-- interval (Student's t), and the one-sided p value of a paired randomisation test: how often as
-- great a gain comes about when every difference has a random sign (Smucker, Allan, Carterette:
-- CIKM 2007). The signs are bits of a hash, so that a seed gives the same value everywhere.
create or replace function pgrag._compared_gains(
    before_gains double precision[],
    after_gains double precision[],
    seed bigint
)
returns jsonb
language sql
immutable
parallel safe
as $$
    with differences as materialized (
        select a.gain - b.gain as difference, b.gain as before, a.gain as after, b.place
        from pg_catalog.unnest(_compared_gains.before_gains) with ordinality as b (gain, place)
        join pg_catalog.unnest(_compared_gains.after_gains) with ordinality as a (gain, place)
            on a.place = b.place
    ),
    summary as (
        select
            count(*) as queries,
            avg(d.before) as before,
            avg(d.after) as after,
            avg(d.difference) as difference,
            sum(d.difference) as total,
            coalesce(stddev_samp(d.difference) / sqrt(count(*)), 0)
                * pgrag._student_quantile(greatest(count(*) - 1, 1)) as margin,
            count(*) filter (where d.difference > 1e-12) as wins,
            count(*) filter (where d.difference < -1e-12) as losses
        from differences as d
    ),
    shuffled as (
        select sum(
            d.difference * (
                1 - 2 * (pg_catalog.hashint8extended(p.number, _compared_gains.seed + d.place) & 1)
            )
        ) as total
        from pg_catalog.generate_series(1::bigint, 10000) as p (number)
        cross join differences as d
        where abs(d.difference) > 1e-12
        group by p.number
    )
    select pg_catalog.jsonb_build_object(
        'queries', s.queries,
        'before', round(s.before::numeric, 4),
        'after', round(s.after::numeric, 4),
        'difference', round(s.difference::numeric, 4),
        'lower_bound', round((s.difference - s.margin)::numeric, 4),
        'upper_bound', round((s.difference + s.margin)::numeric, 4),
        'p_value', round(
            case
                when s.wins + s.losses = 0 then 1
                else (
                    select (1 + count(*) filter (where h.total >= s.total - 1e-9)) / 10001.0
                    from shuffled as h
                )
            end,
            4
        ),
        'wins', s.wins,
        'losses', s.losses
    )
    from summary as s;
$$;

-- 0, 1 / steps … 1.
create or replace function pgrag._shares(
    steps integer
)
returns double precision[]
language sql
immutable
parallel safe
as $$
    select pg_catalog.array_agg(v::double precision / _shares.steps order by v)
    from pg_catalog.generate_series(0, _shares.steps) as v;
$$;
