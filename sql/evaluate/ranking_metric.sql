-- Computes a metric of one ranking by name; each metric is a function.
create or replace function pgrag.ranking_metric(
    metric text,
    grades integer[],
    judged integer[]
)
returns double precision
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    measure text := split_part(metric, '@', 1);
    k integer := _pgrag.metric_depth(metric);
begin
    return case measure
        when 'ndcg' then pgrag.ndcg_at(grades, judged, k)
        when 'ndcg_exp' then pgrag.ndcg_at(grades, judged, k, 'exponential')
        when 'mrr' then pgrag.reciprocal_rank_at(grades, k)
        when 'recall' then pgrag.recall_at(grades, judged, k)
        when 'precision' then pgrag.precision_at(grades, k)
        when 'hit_rate' then pgrag.hit_rate_at(grades, k)
    end;
end;
$$;

comment on function pgrag.ranking_metric is
'A metric of one ranking, by name: ndcg@10, ndcg_exp@10 (exponential gain), mrr@10, recall@20,
precision@5, hit_rate@10; without "@" over the whole list. grades: the grades of the results, best
first, 0 for unjudged results; judged: all grades of the query. From 0 to 1. Errors: PGR01, naming
the metric.';

-- The k of a metric; null without "@".
create or replace function _pgrag.metric_depth(
    metric text
)
returns integer
language plpgsql
immutable
parallel safe
as $$
begin
    if metric is null
        or metric !~ '^(ndcg|ndcg_exp|mrr|recall|precision|hit_rate)(@[1-9][0-9]{0,4})?$'
    then
        raise exception 'There is no metric %.', quote_nullable(metric)
            using errcode = 'PGR01',
                hint = 'Use ndcg, ndcg_exp, mrr, recall, precision or hit_rate, with a depth such '
                    'as ndcg@10.';
    end if;
    return nullif(split_part(metric, '@', 2), '')::integer;
end;
$$;
