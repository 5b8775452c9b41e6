-- Stores what was chosen, unless the library was configured meanwhile, and looks whether searches
-- then find what was foreseen; if not, all of it is rolled back.
create or replace function pgrag._apply_tuning(
    run pgrag.tuning_runs,
    chosen jsonb
)
returns pgrag.tuning_runs
language plpgsql
volatile
set search_path from current
as $$
declare
    -- Foreseen from a sample of lengths and from fifty candidates an arm.
    tolerance constant double precision := 0.03;
    foreseen double precision;
    found_before double precision;
    found_after double precision;
    settings_now jsonb;
begin
    select avg(g) into foreseen from unnest(pgrag._gain_list(chosen, true, false)) as g;
    found_before := pgrag._searched_gain((run).library, (run).version);
    begin
        select l.settings into settings_now
        from pgrag.libraries as l
        where l.library_id = (run).library_id
        for no key update;
        if settings_now is distinct from (run).settings_before then
            run.outcome := 'overtaken';
            run.reason := 'The library''s settings were changed meanwhile; nothing was changed.';
            return run;
        end if;
        perform pgrag.configure_library((run).library, (run).proposed);
        found_after := pgrag._searched_gain((run).library, (run).version);
        run.searched := jsonb_build_object(
            'before', round(found_before::numeric, 4),
            'after', round(found_after::numeric, 4),
            'foreseen', round(foreseen::numeric, 4)
        );
        if abs(found_after - foreseen) > tolerance then
            raise exception 'Searches with the new settings do not find what was foreseen.'
                using errcode = 'PGR99';
        -- What was muted is not here, so of the library's own questions no gain is expected.
        elsif found_after
            < found_before - (case (run).source when 'library' then 0.005 else 0 end)
        then
            raise exception 'Searches with the new settings find less than before.'
                using errcode = 'PGR99';
        end if;
    exception
        when sqlstate 'PGR99' then
            run.outcome := 'taken back';
            run.reason := sqlerrm || ' They were taken back.';
            return run;
    end;
    select l.settings into run.settings_after
    from pgrag.libraries as l
    where l.library_id = (run).library_id;
    run.outcome := 'accepted';
    run.reason := 'Better on the validation questions, and stored.';
    return run;
end;
$$;

-- Mean nDCG@10 of the validation questions by real searches. Nothing is muted here.
create or replace function pgrag._searched_gain(
    library text,
    version_label text
)
returns double precision
language plpgsql
stable
parallel restricted
set search_path from current
set client_min_messages = warning
as $$
begin
    return (
        select avg(g.gain)
        from pg_temp.tuning_queries as q
        cross join lateral (
            select pgrag.ndcg_at(array_agg(coalesce(a.grade, 0) order by h.place), q.grades, 10)
                as gain
            from (
                select s.page_id, row_number() over (order by s.ordinality) as place
                from pgrag.search(
                    query => q.words,
                    library => _searched_gain.library,
                    version => _searched_gain.version_label,
                    match_count => least(10 + cardinality(q.excluded_pages), 1000),
                    max_per_page => 1,
                    intent => 'off',
                    query_expansion => 'none',
                    graph => false
                ) with ordinality as s
                where s.page_id <> all (q.excluded_pages)
            ) as h
            left join pg_temp.tuning_answers as a
                on a.question_id = q.question_id and a.page_id = h.page_id
        ) as g
        where q.is_validation
    );
end;
$$;

create or replace function pgrag._recorded_tuning(
    run pgrag.tuning_runs
)
returns pgrag.tuning_runs
language plpgsql
volatile
set search_path from current
as $$
begin
    insert into pgrag.tuning_runs (
        library_id, library, version, source, seed, questions, settings_before, settings_after,
        proposed, training, validation, searched, trials, notes, outcome, reason, started_at,
        finished_at
    )
    values (
        (run).library_id, (run).library, (run).version, (run).source, (run).seed,
        (run).questions, (run).settings_before, (run).settings_after,
        coalesce((run).proposed, '{}'), (run).training, (run).validation, (run).searched,
        coalesce((run).trials, '[]'), (run).notes, (run).outcome, (run).reason,
        (run).started_at, clock_timestamp()
    )
    returning * into run;
    return run;
end;
$$;
