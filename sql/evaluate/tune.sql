-- Tunes the settings of a library, validated on questions that were not used to choose them.
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
    in_force jsonb;
    chosen jsonb;
    -- Whether the library has the corpus of a held-out set, whose figures would be worthless if the
    -- settings were learned from its questions.
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
        pgrag.effective_settings(l.settings)
            || jsonb_build_object('alpha', _pgrag.alpha(l.settings, m.alpha)),
        exists (
            select
            from pgrag.evaluation_sets as s
            where s.library = l.name
                and s.source ? 'corpus'
                and s.source @> '{"held_out": true}'
        )
    into run.library, run.settings_before, run.settings_after, in_force, is_benchmark
    from pgrag.libraries as l
    left join pgrag.embedding_models as m on m.model_id = l.model_id
    where l.library_id = run.library_id;
    -- Numbers are added to the seed.
    perform _pgrag.check_range('seed', seed, -(2.0 ^ 62), 2.0 ^ 62);
    if query_count is null or query_count not between 50 and 5000 then
        raise exception 'query_count must be 50 to 5000, got %.',
            coalesce(query_count::text, 'null')
            using errcode = 'PGR01', hint = 'More questions take longer and are more certain.';
    elsif source not in ('judgements', 'feedback', 'library') then
        raise exception 'source must be judgements, feedback or library, got %.',
            quote_literal(source)
            using errcode = 'PGR01', hint = 'Leave it out to use the best one available.';
    elsif source <> 'library' and is_benchmark then
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
        drop table if exists pg_temp.tuning_questions;
        create temporary table tuning_questions on commit drop as
        select
            q.*, null::_pgrag.search_request as request, null::_pgrag.library_query as own,
            null::bigint[] as candidates,
            -- A page that links by these words is found by them. Most links have the title.
            q.kind = 'title' or exists (
                select
                from pgrag.pages as p
                cross join lateral unnest(p.anchor_texts) as a
                where p.library_id = run.library_id
                    and p.page_id = any (q.page_ids)
                    and strpos(_pgrag.as_question(a), _pgrag.as_question(q.words)) > 0
            ) as is_link_text
        from _pgrag.collect_questions(
            run.library_id, version_id, run.source, query_count, seed
        ) as q;
        get diagnostics question_count = row_count;
        exit when question_count >= enough;
    end loop;
    select coalesce(jsonb_object_agg(k.kind, k.questions), '{}')
    into run.questions
    from (
        select q.kind, count(*) as questions from pg_temp.tuning_questions as q group by q.kind
    ) as k;
    if question_count < enough then
        run.outcome := 'too little';
        run.reason := format(
            'There are %s questions to learn from; %s are needed.', question_count, enough
        );
        return _pgrag.recorded_tuning(run);
    end if;

    -- Explicit levels keep summaries next to their paragraphs; twice top_k hits are guaranteed.
    update pg_temp.tuning_questions as q
    set (request, own, candidates) = (
        select
            (array_agg(m order by x.nth))[1], (array_agg(m.queries[1] order by x.nth))[1],
            array_agg(h.document_id) filter (where h.document_id is not null)
        from (
            select 0 as nth, 'none' as query_expansion
            union all
            select 1, v
            from _pgrag.tuned_switches(run.library_id) as s
            cross join lateral jsonb_array_elements_text(s.candidates) as v
            where s.name = 'query_expansion' and v <> 'none'
        ) as x
        cross join lateral _pgrag.make_request(
            q.words,
            jsonb_build_object(
                'library', run.library,
                'version', run.version,
                'top_k', 25,
                'candidate_count', 50,
                'levels', array[1, 2],
                'intent', 'off',
                'query_expansion', x.query_expansion,
                'graph', false,
                'alpha', 0.5
            )
        ) as m
        left join lateral unnest((_pgrag.rank(m, '{}', m.candidate_count * 2)).hits) as h on true
    );
    analyze pg_temp.tuning_questions;
    perform _pgrag.gather_tuning_features(run.library_id);
    -- Nearly every question needs a vector, and muted fields need a model in the database.
    select
        count(*) filter (where (q.own).embedding is null) <= count(*) / 20
            and bool_and(m.provider = 'builtin' or q.kind not in ('heading', 'title')) is true
    into alpha_is_learnable
    from pg_temp.tuning_questions as q
    left join pgrag.embedding_models as m on m.model_id = (q.own).model_id;
    if not alpha_is_learnable then
        run.notes := run.notes || (
            'alpha stays: the vectors of this library''s model cannot be computed in the database'
            || ' without the text that a question was taken from.'
        );
    end if;
    select j.*
    into chosen, run.proposed, run.trials, run.verdicts
    from _pgrag.judge_settings(
        run.library_id, in_force,
        case when alpha_is_learnable then '{}' else '{alpha}' end::text[],
        -- A library's own questions are not those of its readers: only large gains are the same.
        case run.source when 'library' then 0.01 else 0.05 end,
        seed
    ) as j;
    run.training := _pgrag.compared_gains(in_force, chosen, false, seed);
    run.validation := _pgrag.compared_gains(in_force, chosen, true, seed);
    if run.proposed = '{}' then
        run.outcome := 'not better';
        run.reason := 'No other settings are surely better on the validation questions.';
    elsif tune.dry_run then
        run.outcome := 'dry run';
        run.reason := 'Better on the validation questions; nothing was changed.';
    else
        run := _pgrag.apply_tuning(run, chosen);
    end if;
    return _pgrag.recorded_tuning(run);
end;
$$;

comment on function pgrag.tune is
'Chooses settings of a library, and stores them (see configure_library) if they are significantly
better: the weights of the ranking (alpha, page and title evidence, field weights), then
query_expansion, graph.search and aggregate. source: judgements (labelled sets of this library),
feedback (see judgements_from_feedback) or library: titles, headings and descriptions as questions
for their own page, with the field that contains them muted; null: the first of these with at least
50 questions. At most query_count questions, sampled by seed; two thirds are for training (the value
with the best nDCG@10 of pages), the rest for validation. Each setting has a verdict: it is kept
only if the mean gain of the validation questions is at least 0.002 with p < 0.05, of the library''s
own questions p < 0.01 (one-sided paired randomisation test), and no kind of unmuted questions loses
more than 0.001; all that is kept is
stored only if real searches reach the predicted gain. Titles and texts of links to the answer have
no say on graph. version: the searched version (null: the newest). dry_run: change nothing. Returns
the row of tuning_runs. Too few questions are not an error: nothing changes. Held-out sets (see
import_evaluation_set) are never used. Errors: PGR01, PGR02, PGR03.';

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

-- Of a question with a muted form, only the muted form counts. setting: what is decided by it. Null
-- if no question counts.
create or replace function _pgrag.compared_gains(
    before jsonb,
    after jsonb,
    on_validation boolean,
    seed bigint,
    setting text default null
)
returns jsonb
language sql
stable
parallel unsafe
as $$
    select jsonb_object_agg(f.key, trim_scale(round(f.value::numeric, 4)))
    from (
        select
            array_agg(o.gain order by o.question_number) as scores,
            array_agg(n.gain order by o.question_number) as other_scores
        from _pgrag.tuned_gains(compared_gains.before, compared_gains.on_validation) as o
        join _pgrag.tuned_gains(compared_gains.after, compared_gains.on_validation) as n
            on n.question_number = o.question_number and n.is_muted = o.is_muted
        where (o.is_muted or o.kind not in ('heading', 'title'))
            and not (o.is_link_text and compared_gains.setting is not distinct from 'graph')
    ) as g
    cross join lateral _pgrag.compared_scores(
        g.scores, g.other_scores, 10000, compared_gains.seed, two_sided => false
    ) as c
    cross join lateral jsonb_each_text(to_jsonb(c) - 'ties') as f
    where g.scores is not null;
$$;
