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
    k constant integer := _pgrag.metric_depth(metric);
    hit_count bigint;
    first_rank double precision;
begin
    select count(*), min(g.rank)
    into hit_count, first_rank
    from unnest(grades[:coalesce(k, cardinality(grades))]) with ordinality as g (grade, rank)
    where g.grade > 0;
    return coalesce(
        case split_part(metric, '@', 1)
            when 'ndcg' then _pgrag.ndcg(grades, judged, k)
            when 'ndcg_exp' then _pgrag.ndcg(grades, judged, k, is_exponential => true)
            when 'mrr' then 1 / first_rank
            when 'recall'
            then hit_count / (
                select nullif(count(*), 0)::double precision from unnest(judged) as j where j > 0
            )
            when 'precision'
            then hit_count / nullif(coalesce(k, cardinality(grades)), 0)::double precision
            when 'hit_rate' then (hit_count > 0)::integer
        end,
        0
    );
end;
$$;

comment on function pgrag.ranking_metric is
'A metric of one ranking, by name, over its first k results, such as ndcg@10; without "@" over the
whole list. grades: the grades of the results, best first, 0 for unjudged results; judged: all
grades of the query; above 0 is relevant. ndcg: the sum of grade / log2(rank + 1), divided by that
of the ideal order (Järvelin and Kekäläinen, TOIS 2002); ndcg_exp: the same with a gain of
2 ^ grade - 1; mrr: 1 / the rank of the first relevant result; recall: the share of the relevant
that is returned; precision: the share of relevant results, where missing ones count as not
relevant; hit_rate: 1 if a result is relevant. From 0 to 1; 0 if nothing is relevant. Errors: PGR01,
naming the metric; for grades above 500 with exponential gain.';

create or replace function _pgrag.ndcg(
    grades integer[],
    judged integer[],
    k integer,
    is_exponential boolean default false
)
returns double precision
language sql
immutable
parallel safe
as $$
    select coalesce(
        _pgrag.discounted_gain(ndcg.grades, ndcg.k, ndcg.is_exponential)
            / nullif(
                _pgrag.discounted_gain(
                    (
                        select pg_catalog.array_agg(j.grade order by j.grade desc)
                        from pg_catalog.unnest(ndcg.judged) as j (grade)
                    ),
                    ndcg.k,
                    ndcg.is_exponential
                ),
                0
            ),
        0
    );
$$;

create or replace function _pgrag.discounted_gain(
    grades integer[],
    k integer,
    is_exponential boolean
)
returns double precision
language sql
immutable
parallel safe
as $$
    select sum(
        case
            when not discounted_gain.is_exponential then g.grade
            when g.grade > 500
            then _pgrag.refuse(
                pg_catalog.format('The grade %s is too large for exponential gain.', g.grade),
                'Use grades up to 500, or linear gain (ndcg).'
            )::double precision
            else pg_catalog.power(2::double precision, g.grade) - 1
        end
        / (pg_catalog.ln((g.rank + 1)::double precision) / pg_catalog.ln(2::double precision))
    )
    from pg_catalog.unnest(discounted_gain.grades[:coalesce(discounted_gain.k, 2147483647)])
        with ordinality as g (grade, rank)
    where g.grade > 0;
$$;

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
