create or replace function pgrag.evaluation_metrics(
    run_id bigint,
    metrics text[] default '{ndcg@10, mrr@10, recall@20, precision@5, hit_rate@10}'
)
returns table (
    metric text,
    score double precision,
    margin double precision
)
language sql
stable
parallel safe
set search_path from current
as $$
    select
        m.metric,
        avg(s.score),
        stddev_samp(s.score) / sqrt(count(*)) * _pgrag.student_quantile(count(*) - 1)
    from unnest(evaluation_metrics.metrics) with ordinality as m (metric, nth)
    join _pgrag.evaluation_scores(evaluation_metrics.run_id, evaluation_metrics.metrics) as s
        on s.metric = m.metric
    group by m.metric, m.nth
    order by m.nth;
$$;

comment on function pgrag.evaluation_metrics is
'The mean of each metric (see ranking_metric) over all queries of a run; a query without results
counts as 0. margin: half of the 95 % confidence interval of the mean (Student''s t over the
queries), null with one query; it says how far another sample of queries may lie. To compare two
runs of the same queries use compare_evaluations, which pairs them. Errors: PGR01 (also if the run
kept fewer results than a metric reads), PGR11.';
