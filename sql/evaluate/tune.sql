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
    version_id bigint;
    -- Whether the library has the corpus of a held-out set: learning from it would spoil the set.
    is_benchmark boolean;
    alpha_is_learnable boolean;
    question_count bigint;
    enough constant integer := 50;
begin
    run.started_at := clock_timestamp();
    run.library_id := _pgrag.library_id(library);
    run.seed := seed;
    select r.version_id, r.version into version_id, run.version
    from pgrag.resolve_version(library, tune.version) as r;
    select
        l.name, l.settings, l.settings,
        exists (
            select
            from pgrag.evaluation_sets as s
            where s.library = l.name
                and s.source ? 'corpus'
                and s.source @> '{"held_out": true}'
        )
    into run.library, run.settings_before, run.settings_after, is_benchmark
    from pgrag.libraries as l
    where l.library_id = run.library_id;
    -- compared_scores adds numbers to the seed.
    perform _pgrag.check_range('seed', seed, -(2.0 ^ 62), 2.0 ^ 62);
    perform _pgrag.check_range('query_count', query_count, 50, 5000);
    perform _pgrag.check_choice(
        'source', coalesce(source, 'library'), '{judgements, feedback, library}'
    );
    if source <> 'library' and is_benchmark then
        raise exception 'Library % belongs to a held-out set, which measures the engine.',
            quote_literal(run.library)
            using errcode = 'PGR01', hint = 'It can be tuned from its own text: source library.';
    end if;
    run.proposed := '{}';
    run.trials := '[]';
    run.verdicts := '[]';
    run.notes := case when coalesce(source, 'judgements') = 'judgements' then array(
        select format('Not learned from: %s, which is held out.', s.name)
        from pgrag.evaluation_sets as s
        where s.library = run.library and s.source @> '{"held_out": true}'
        order by s.name
    ) else '{}' end;

    foreach run.source in array case
        when source is not null then array[source]
        when is_benchmark then '{library}'
        else '{judgements, feedback, library}'
    end
    loop
        drop table if exists
            pg_temp.tuning_questions, pg_temp.tuning_requests, pg_temp.tuning_candidates,
            pg_temp.tuning_postings;
        create temporary table tuning_questions on commit drop as
        select
            row_number() over (order by f.is_muted, q.number) as question_number,
            q.number as base_number,
            f.is_muted, q.is_validation, q.kind, q.words, q.excluded_pages, q.page_ids, q.grades,
            -- Unmuted, a title or a heading finds its page with any weights. A page
            -- that links to the answer by the words of the question is found by them, too.
            array_remove(
                case
                    when f.is_muted then '{weights}'
                    when q.kind in ('heading', 'title') then '{query_expansion, graph, aggregate}'
                    else '{weights, query_expansion, graph, aggregate}'
                end::text[],
                case
                    when q.kind = 'title' or exists (
                        select
                        from pgrag.pages as p
                        cross join lateral unnest(p.anchor_texts) as a
                        where p.library_id = run.library_id
                            and p.page_id = any (q.page_ids)
                            and strpos(_pgrag.as_question(a), _pgrag.as_question(q.words)) > 0
                    )
                    then 'graph'
                end
            ) as decides_on
        from _pgrag.collect_questions(
            run.library_id, version_id, run.source, query_count, seed
        ) as q
        join (values (false), (true)) as f (is_muted)
            on not f.is_muted or q.kind in ('heading', 'title');
        exit when (select count(*) from pg_temp.tuning_questions as q where not q.is_muted)
            >= enough;
    end loop;
    select coalesce(jsonb_object_agg(k.kind, k.questions), '{}'), coalesce(sum(k.questions), 0)
    into run.questions, question_count
    from (
        select q.kind, count(*) as questions
        from pg_temp.tuning_questions as q
        where not q.is_muted
        group by q.kind
    ) as k;
    if question_count < enough then
        run.outcome := 'too little';
        run.reason := format(
            'There are %s questions to learn from; %s are needed.', question_count, enough
        );
        return _pgrag.recorded_tuning(run);
    end if;

    analyze pg_temp.tuning_questions;
    perform _pgrag.gather_tuning_features(run);
    -- Nearly every question needs a vector, and muted fields need a model in the database.
    select
        count(*) filter (where o.embedding is null) <= count(*) / 20
            and bool_and(m.provider = 'builtin' or q.kind not in ('heading', 'title')) is true
    into alpha_is_learnable
    from pg_temp.tuning_questions as q
    join pg_temp.tuning_requests as r
        on r.question_number = q.question_number and r.expansion = 'none'
    cross join lateral unnest((r.request).queries) as o
    left join pgrag.embedding_models as m on m.model_id = o.model_id;
    if not alpha_is_learnable then
        run.notes := run.notes || (
            'alpha stays: the vectors of this library''s model cannot be computed in the database'
            || ' without the text that a question was taken from.'
        );
    end if;
    run := _pgrag.judge_settings(run, alpha_is_learnable);
    if run.proposed = '{}' then
        run.outcome := 'not better';
        run.reason := 'No other settings are significantly better on the validation questions.';
    elsif tune.dry_run then
        run.outcome := 'dry run';
        run.reason := 'Better on the validation questions; nothing was changed.';
    else
        run := _pgrag.apply_tuning(run);
    end if;
    return _pgrag.recorded_tuning(run);
end;
$$;

comment on function pgrag.tune is
'Chooses settings of a library, and stores them (see configure_library) if they are significantly
better: the weights of the ranking (alpha, page and title evidence, field weights), then
query_expansion, graph.search and aggregate. source: judgements (labelled sets of this library),
feedback (see judgements_from_feedback) or library: titles, headings and descriptions as questions
for their own page, for the weights with the field of the question muted; null: the first of these
with at least 50 questions. At most query_count questions, sampled by seed; two thirds train (the
value with the best nDCG@10 of pages), the rest validate. A setting is kept only if the mean gain of
the validation questions is at least 0.002 with p < 0.05, of the library''s own questions p < 0.01
(one-sided paired randomisation test), and no kind of unmuted questions loses more than 0.001; all
that is kept is stored only if real searches reach the predicted gain. Titles and texts of links to
the answer do not decide on graph. version: the searched version (null: the newest). dry_run: change
nothing. Returns the row of tuning_runs. Too few questions are not an error: nothing changes.
Held-out sets (see import_evaluation_set) are never used. Errors: PGR01, PGR02, PGR03.';

create or replace function _pgrag.recorded_tuning(
    run pgrag.tuning_runs
)
returns pgrag.tuning_runs
language plpgsql
volatile
as $$
begin
    run.finished_at := clock_timestamp();
    -- A tuning takes minutes, in which the library may be removed.
    perform from pgrag.libraries as l where l.library_id = (run).library_id for key share;
    if not found then
        raise exception 'The library was removed while it was tuned.'
            using errcode = 'PGR02';
    end if;
    insert into pgrag.tuning_runs overriding user value
    select (run).*
    returning * into run;
    return run;
end;
$$;
