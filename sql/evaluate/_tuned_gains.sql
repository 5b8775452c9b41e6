-- nDCG@10 of pages for each question under any settings, by its number: the ranking of a search,
-- from the gathered features and by the formulas of searches. Null for a question without a
-- candidate, or of the half that on_validation does not name. Muted questions decide on weights
-- only, so they are ranked by these alone.
create or replace function _pgrag.tuned_gains(
    settings jsonb,
    on_validation boolean default null
)
returns double precision[]
language plpgsql
stable
parallel unsafe
set enable_nestloop = off
set jit = off
set work_mem = '64MB'
as $$
declare
    alpha double precision := settings ->> 'alpha';
    page_evidence double precision := settings ->> 'page_evidence';
    title_evidence double precision := settings ->> 'title_evidence';
    k1 double precision := settings ->> 'k1';
    b double precision := settings ->> 'b';
    weights vector := _pgrag.field_weights(settings)::vector;
    is_rearranged boolean := (settings #>> '{graph,search}')::boolean
        or settings ->> 'aggregate' <> 'max';
begin
    return (
        with questions as materialized (
            select
                q.question_number, q.page_ids, q.grades, q.excluded_pages,
                is_rearranged and not q.is_muted as is_rearranged,
                case when q.is_muted then 'none' else settings ->> 'query_expansion' end
                    as expansion,
                r.request, (r.request).queries[1] as own
            from pg_temp.tuning_questions as q
            join pg_temp.tuning_requests as r
                on r.question_number = q.base_number and r.expansion = 'none'
            where q.is_validation = coalesce(on_validation, q.is_validation)
        ),
        texts as materialized (
            select
                p.question_number, p.is_page, p.text_id,
                sum(
                    p.weight * _pgrag.impact(
                        -(p.counts <#> weights),
                        -(p.lengths <#> weights),
                        greatest(-(p.averages <#> weights), 1e-6),
                        k1,
                        b
                    )
                ) as score
            from pg_temp.tuning_postings as p
            join questions as q
                on q.question_number = p.question_number and q.expansion = p.expansion
            where -(p.counts <#> weights) > 0
            group by p.question_number, p.is_page, p.text_id
        ),
        passages as materialized (
            select
                c.question_number, c.document_id, c.page_id, c.level, c.sort_order, c.section_end,
                q.is_rearranged,
                c.type_weight * _pgrag.fused_score(
                    _pgrag.keyword_score(
                        coalesce(t.score, 0),
                        _pgrag.page_score(
                            coalesce(p.score, 0), c.title_score,
                            title_evidence * (q.own).title_share
                        ),
                        page_evidence
                    ),
                    c.semantic_score,
                    alpha * (q.own).alpha_share
                ) as score
            from pg_temp.tuning_candidates as c
            join questions as q on q.question_number = c.question_number
            left join texts as t
                on t.question_number = c.question_number and t.text_id = c.document_id
                and not t.is_page
            left join texts as p
                on p.question_number = c.question_number and p.text_id = c.page_id and p.is_page
        ),
        -- As in the fusion, a summary gives way to the best paragraph below it, and lends it its
        -- score.
        lent as materialized (
            select distinct on (s.question_number, s.document_id)
                s.question_number, s.document_id as summary_id, p.document_id, s.score
            from passages as s
            join passages as p
                on p.question_number = s.question_number
                and p.page_id = s.page_id
                and p.level = 2
                and p.sort_order > s.sort_order
                and p.sort_order <= s.section_end
            where s.level < 2 and s.is_rearranged
            order by s.question_number, s.document_id, p.score desc, p.document_id
        ),
        settled as (
            select p.*, greatest(p.score, b.score) as settled_score
            from passages as p
            left join (
                select l.question_number, l.document_id, max(l.score) as score
                from lent as l
                group by l.question_number, l.document_id
            ) as b on b.question_number = p.question_number and b.document_id = p.document_id
            left join lent as g
                on g.question_number = p.question_number and g.summary_id = p.document_id
            where p.is_rearranged and g.summary_id is null
        ),
        pages as (
            select p.question_number, p.page_id, max(p.score) as score
            from passages as p
            where not p.is_rearranged
            group by p.question_number, p.page_id
            union all
            select l.question_number, h.page_id, h.score
            from (
                select
                    q.question_number, q.request, q.excluded_pages,
                    array_agg(
                        row(
                            (q.own).library_id, p.document_id, p.page_id, p.settled_score, null,
                            null, null, null, null, null, null, p.settled_score, null, null,
                            null, null
                        )::_pgrag.ranked_hit
                        order by p.nth
                    ) as hits
                from (
                    select
                        s.*,
                        row_number() over (
                            partition by s.question_number
                            order by s.settled_score desc, s.document_id
                        ) as nth
                    from settled as s
                ) as p
                join questions as q on q.question_number = p.question_number
                -- About as deep as a search reads. Of relevant pages all passages are candidates:
                -- their weak ones would lower the mean of these pages only.
                where p.nth <= 100
                group by q.question_number, q.request, q.excluded_pages
            ) as l
            cross join lateral unnest(_pgrag.tuned_list(l.hits, l.request, settings)) as h
            where h.page_id <> all (l.excluded_pages)
        )
        select array_agg(g.gain order by t.question_number)
        from pg_temp.tuning_questions as t
        left join (
            select
                q.question_number,
                _pgrag.ndcg(
                    array_agg(
                        coalesce(q.grades[array_position(q.page_ids, p.page_id)], 0)
                        order by p.score desc, p.page_id
                    ),
                    q.grades,
                    10
                ) as gain
            from pages as p
            join questions as q on q.question_number = p.question_number
            group by q.question_number, q.grades
        ) as g on g.question_number = t.question_number
    );
end;
$$;

-- The list of a search for pages. One search needs the nested loops that its caller forbids.
create or replace function _pgrag.tuned_list(
    hits _pgrag.ranked_hit[],
    request _pgrag.search_request,
    settings jsonb
)
returns _pgrag.ranked_hit[]
language plpgsql
stable
parallel safe
set enable_nestloop = on
set jit = off
as $$
declare
    own _pgrag.library_query := request.queries[1];
begin
    own.alpha := (settings ->> 'alpha')::double precision * own.alpha_share;
    own.page_evidence := settings ->> 'page_evidence';
    own.title_evidence := (settings ->> 'title_evidence')::real * own.title_share;
    request.queries := array[own];
    request.unit := 'page';
    request.aggregate := settings ->> 'aggregate';
    request.graph := case
        when (settings #>> '{graph,search}')::boolean then (settings -> 'graph') - 'search'
    end;
    return _pgrag.rearrange(hits, request);
end;
$$;

-- Compares the gains of the questions that decide on a setting. Null if there is none.
create or replace function _pgrag.compared_gains(
    setting text,
    before double precision[],
    after double precision[],
    on_validation boolean,
    seed bigint
)
returns jsonb
language plpgsql
stable
parallel unsafe
as $$
begin
    return (
        select jsonb_object_agg(f.key, trim_scale(round(f.value::numeric, 4)))
        from (
            select
                array_agg(compared_gains.before[q.question_number] order by q.question_number)
                    as scores,
                array_agg(compared_gains.after[q.question_number] order by q.question_number)
                    as other_scores
            from pg_temp.tuning_questions as q
            where q.is_validation = compared_gains.on_validation
                and compared_gains.before[q.question_number] is not null
                and compared_gains.after[q.question_number] is not null
                and compared_gains.setting = any (q.decides_on)
        ) as g
        cross join lateral _pgrag.compared_scores(
            g.scores, g.other_scores, 10000, compared_gains.seed, two_sided => false
        ) as c
        cross join lateral jsonb_each_text(to_jsonb(c) - 'ties') as f
        where g.scores is not null
    );
end;
$$;

-- The mean gain of the questions that decide on the weights, and the kind of unmuted questions that
-- loses most; null if none loses more than 0.001.
create or replace function _pgrag.weighed_gains(
    before double precision[],
    after double precision[],
    out gain double precision,
    out fallen_kind text
)
language plpgsql
stable
parallel unsafe
as $$
begin
    select
        sum(k.gain) / nullif(sum(k.deciding), 0),
        (array_agg(k.kind order by k.change) filter (where k.change < -0.001))[1]
    into gain, fallen_kind
    from (
        select
            q.kind,
            sum(after[q.question_number]) filter (where 'weights' = any (q.decides_on)) as gain,
            count(after[q.question_number]) filter (where 'weights' = any (q.decides_on))
                as deciding,
            avg(after[q.question_number] - before[q.question_number]) filter (where not q.is_muted)
                as change
        from pg_temp.tuning_questions as q
        group by q.kind
    ) as k;
end;
$$;
