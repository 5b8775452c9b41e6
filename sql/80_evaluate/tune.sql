-- Better settings for one library, proven on questions that had no part in choosing them.
create or replace function pgrag.tune(
    library text,
    version text default null,
    query_count integer default 400,
    seed bigint default 42,
    dry_run boolean default false,
    source text default null
)
returns pgrag.tuning_runs
language plpgsql
volatile
set search_path from current
set client_min_messages = warning
set jit = off
as $$
declare
    run pgrag.tuning_runs;
    resolved record;
    in_force jsonb;
    chosen record;
    question_total bigint;
    with_alpha boolean;
    enough constant integer := 50;
begin
    perform pgrag._check_tuning(library, query_count, seed, source);
    run.started_at := clock_timestamp();
    run.library_id := pgrag._library_id(library);
    run.seed := seed;
    select r.version_id, r.version into resolved
    from pgrag.resolve_version(library, tune.version) as r;
    run.version := resolved.version;
    select l.name, l.settings, pgrag._settings_in_force(l)
    into run.library, run.settings_before, in_force
    from pgrag.libraries as l
    where l.library_id = run.library_id;
    run.settings_after := run.settings_before;
    run.notes := pgrag._tuning_notes(run.library, tune.source);

    run.source := pgrag._collect_tuning_queries(
        run.library, tune.source, array[resolved.version_id], query_count, seed
    );
    select coalesce(sum(k.questions), 0), coalesce(jsonb_object_agg(k.kind, k.questions), '{}')
    into question_total, run.questions
    from (
        select q.kind, count(*) as questions from pg_temp.tuning_questions as q group by q.kind
    ) as k;
    if question_total < enough then
        run.outcome := 'too little';
        run.reason := format(
            'There are %s questions to learn from; %s are needed.', question_total, enough
        );
        return pgrag._recorded_tuning(run);
    end if;

    perform pgrag._gather_tuning_features(
        run.library, run.version, array[resolved.version_id], seed
    );
    with_alpha := pgrag._alpha_is_learnable();
    select c.*
    into chosen
    from pgrag._choose_settings(
        in_force, case when with_alpha then '{}' else '{alpha}' end::text[]
    ) as c;
    if not with_alpha then
        run.notes := run.notes || (
            'alpha stays: the vectors of this library''s model cannot be computed in the database'
            || ' without the text that a question was taken from.'
        );
    end if;
    run.trials := chosen.trials;
    run.proposed := pgrag._changed_settings(in_force, chosen.chosen);
    run.training := pgrag._compared_gains(
        pgrag._gain_list(in_force, false), pgrag._gain_list(chosen.chosen, false), seed
    );
    run.validation := pgrag._compared_gains(
        pgrag._gain_list(in_force, true), pgrag._gain_list(chosen.chosen, true), seed
    );
    if run.proposed = '{}' then
        run.outcome := 'not better';
        run.reason := 'No other settings serve the training questions better.';
    elsif (run.validation ->> 'difference')::numeric < 0.002
        or (run.validation ->> 'p_value')::numeric >= 0.05
    then
        run.outcome := 'not better';
        run.reason := 'What serves the training questions better is not surely better on the'
            ' validation questions.';
    elsif tune.dry_run then
        run.outcome := 'dry run';
        run.reason := 'Better on the validation questions; nothing was changed.';
    else
        run := pgrag._apply_tuning(run, chosen.chosen);
    end if;
    return pgrag._recorded_tuning(run);
end;
$$;

comment on function pgrag.tune(text, text, integer, bigint, boolean, text) is
'Chooses alpha, page and title evidence and the field weights for a library, and stores them (see
configure_library) where they are surely better. source: judgements (labelled sets of this library),
feedback (see judgements_from_feedback) or library: titles, headings and descriptions as questions
for their own page, with the field that they stand in muted; null for the first of these with at
least 50 questions. At most query_count questions, sampled by seed; two thirds choose (coordinate
search for nDCG@10 of pages), the others decide: accepted only where their mean gain is at least
0.002 with p < 0.05 (paired randomisation test) and searching with the new settings finds what was
foreseen. version: the one that is asked (null: the newest). dry_run: change nothing. Returns the
run as it stands in tuning_runs. Too few questions are no error: nothing changes. Sets that measure
the engine (scifact, xquad-…, …-anchor) are never learned from. Errors: PGR01, PGR02, PGR03.';

create or replace function pgrag._check_tuning(
    library text,
    query_count integer,
    seed bigint,
    source text
)
returns void
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    if query_count is null or query_count not between 50 and 5000 then
        raise exception 'query_count must be 50 to 5000, got %.',
            coalesce(query_count::text, 'null')
            using errcode = 'PGR01', hint = 'More questions take longer and are more certain.';
    elsif seed is null then
        raise exception 'seed must be a number, got null.' using errcode = 'PGR01';
    elsif source not in ('judgements', 'feedback', 'library') then
        raise exception 'source must be judgements, feedback or library, got %.',
            quote_literal(source)
            using errcode = 'PGR01', hint = 'Leave it out to use the best that there is.';
    elsif source <> 'library' and pgrag._is_for_measuring(lower(btrim(library))) then
        raise exception 'Library % belongs to a set that measures the engine.',
            quote_literal(lower(btrim(library)))
            using errcode = 'PGR01', hint = 'It can be tuned from its own text: source library.';
    end if;
end;
$$;

create or replace function pgrag._tuning_notes(
    library text,
    source text
)
returns text[]
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    return array(
        select format('Not learned from: %s, which is for measuring only.', s.name)
        from pgrag.evaluation_sets as s
        where s.library = _tuning_notes.library
            and coalesce(_tuning_notes.source, 'judgements') = 'judgements'
            and (pgrag._is_for_measuring(s.name) or pgrag._is_for_measuring(s.library))
        order by s.name
    );
end;
$$;

-- What a search of this library uses, alpha as its model or session has it included.
create or replace function pgrag._settings_in_force(
    library pgrag.libraries
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    return pgrag.effective_settings((library).settings) || jsonb_build_object(
        'alpha',
        pgrag._alpha(
            (library).settings,
            (
                select m.alpha
                from pgrag.embedding_models as m
                where m.model_id = (library).model_id
            )
        )
    );
end;
$$;

-- Nearly every question needs a vector, and where fields are muted, one that can be made anew.
create or replace function pgrag._alpha_is_learnable()
returns boolean
language plpgsql
stable
parallel restricted
set search_path from current
as $$
begin
    return (
        select count(*) filter (where q.embedding is null) <= count(*) / 20
            and coalesce(
                bool_and(m.provider = 'builtin' or q.kind not in ('heading', 'title')), false
            )
        from pg_temp.tuning_queries as q
        left join pgrag.embedding_models as m on m.model_id = q.model_id
    );
end;
$$;

create or replace function pgrag._gain_list(
    settings jsonb,
    on_validation boolean,
    with_mutes boolean default true
)
returns double precision[]
language plpgsql
stable
parallel restricted
set search_path from current
as $$
begin
    return array(
        select g.gain
        from pgrag._tuned_gains(settings, on_validation, with_mutes) as g
        order by g.query_number
    );
end;
$$;

-- Only what is tuned and differs, in the form that configure_library takes.
create or replace function pgrag._changed_settings(
    before jsonb,
    after jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    return (
        with changes as (
            select
                case when cardinality(g.path) > 1 then g.path[1] end as parent,
                g.path[cardinality(g.path)] as name,
                after #> g.path as value
            from pgrag._tuning_grid() as g
            where (before #> g.path)::double precision <> (after #> g.path)::double precision
        )
        select coalesce(jsonb_object_agg(c.name, c.value), '{}')
        from (
            select c.name, c.value from changes as c where c.parent is null
            union all
            select c.parent, jsonb_object_agg(c.name, c.value)
            from changes as c
            where c.parent is not null
            group by c.parent
        ) as c
    );
end;
$$;
