-- Stores the chosen settings unless the library was configured meanwhile; rolls them back if real
-- searches do not reach the predicted gain.
create or replace function _pgrag.apply_tuning(
    run pgrag.tuning_runs
)
returns pgrag.tuning_runs
language plpgsql
volatile
as $$
declare
    -- The prediction uses a sample of lengths and fifty candidates per retriever.
    tolerance constant double precision := 0.03;
    foreseen double precision;
    gain_before double precision;
    gain_after double precision;
    settings_now jsonb;
begin
    gain_before := _pgrag.searched_gain((run).library, (run).version);
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
        gain_after := _pgrag.searched_gain((run).library, (run).version);
        select avg(g.gain) into foreseen
        from unnest(_pgrag.tuned_gains(_pgrag.settings_in_force((run).library_id), true))
            with ordinality as g (gain, number)
        join pg_temp.tuning_questions as q on q.question_number = g.number and not q.is_muted;
        run.searched := jsonb_build_object(
            'before', round(gain_before::numeric, 4),
            'after', round(gain_after::numeric, 4),
            'foreseen', round(foreseen::numeric, 4)
        );
        if abs(gain_after - foreseen) > tolerance then
            raise exception 'Searches with the new settings do not reach the predicted gain.'
                using errcode = 'PGR99';
        -- Real searches mute no field, so the library's own questions need not show a gain.
        elsif gain_after
            < gain_before - (case (run).source when 'library' then 0.005 else 0 end)
        then
            raise exception 'Searches with the new settings rank worse than before.'
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

-- Mean nDCG@10 of the validation questions by real searches, without muting.
create or replace function _pgrag.searched_gain(
    library text,
    version_label text
)
returns double precision
language plpgsql
stable
parallel unsafe
set client_min_messages = warning
as $$
begin
    return (
        select avg(g.gain)
        from pg_temp.tuning_questions as q
        cross join lateral (
            select _pgrag.ndcg(
                array_agg(
                    coalesce(q.grades[array_position(q.page_ids, s.page_id)], 0)
                    order by s.ordinality
                ),
                q.grades,
                10
            ) as gain
            from pgrag.search(
                query => q.words,
                library => searched_gain.library,
                version => searched_gain.version_label,
                top_k => least(10 + cardinality(q.excluded_pages), 1000),
                unit => 'page',
                intent => 'off'
            ) with ordinality as s
            where s.page_id <> all (q.excluded_pages)
        ) as g
        where q.is_validation and not q.is_muted
    );
end;
$$;
