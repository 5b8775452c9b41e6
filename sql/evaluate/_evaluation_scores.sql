-- Each metric (see ranking_metric) of each query of a run, from 0 to 1. Errors: PGR01, PGR11.
create or replace function _pgrag.evaluation_scores(
    run_id bigint,
    metrics text[] default '{ndcg@10, mrr@10, recall@20, precision@5, hit_rate@10}'
)
returns table (
    query_id text,
    query text,
    metric text,
    score double precision
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    kept integer := (_pgrag.evaluation_run(evaluation_scores.run_id)).configuration ->> 'depth';
    too_deep text := (
        select min(m.metric)
        from unnest(evaluation_scores.metrics) as m (metric)
        where _pgrag.metric_depth(m.metric) > kept
    );
begin
    if too_deep is not null then
        raise exception 'Run % kept % results of each query, too few for %.',
            evaluation_scores.run_id, kept, too_deep
            using errcode = 'PGR01', hint = 'Run it with a greater "depth" in its configuration.';
    end if;
    return query
    select q.query_id, q.query, m.metric, pgrag.ranking_metric(m.metric, q.grades, q.judged)
    from (
        select
            q.query_id,
            q.query,
            array(
                select coalesce((q.judgements ->> r.target)::integer, 0)
                from pgrag.evaluation_results as r
                where r.run_id = q.run_id and r.query_id = q.query_id
                order by r.rank
            ) as grades,
            array(
                select j.grade::integer from jsonb_each_text(q.judgements) as j (target, grade)
            ) as judged
        from pgrag.evaluation_run_queries as q
        where q.run_id = evaluation_scores.run_id
    ) as q
    cross join unnest(evaluation_scores.metrics) as m (metric)
    order by q.query_id, m.metric;
end;
$$;
