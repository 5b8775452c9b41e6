-- Measures of one ranking, each a leaf of its own; this is the door for those who have a name.
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
    k integer := pgrag._metric_depth(metric);
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

comment on function pgrag.ranking_metric(text, integer[], integer[]) is
'One measure of one ranking, by name: ndcg@10, ndcg_exp@10 (exponential gain), mrr@10, recall@20,
precision@5, hit_rate@10; without "@" over the whole list. grades: those of what was returned, best
first, 0 for what nobody judged; judged: all grades of the query. From 0 to 1. Errors: PGR01, naming
the metric.';

-- Null for a metric without depth.
create or replace function pgrag._metric_depth(
    metric text
)
returns integer
language plpgsql
immutable
parallel safe
set search_path from current
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

create or replace function pgrag.precision_at(
    grades integer[],
    k integer default null
)
returns double precision
language sql
immutable
parallel safe
as $$
    select coalesce(
        (
            select count(*) filter (where g.grade > 0)
            from pg_catalog.unnest(
                precision_at.grades[:coalesce(precision_at.k, 2147483647)]
            ) as g (grade)
        )::double precision
            / nullif(coalesce(precision_at.k, pg_catalog.cardinality(precision_at.grades)), 0),
        0
    );
$$;

comment on function pgrag.precision_at(integer[], integer) is
'The share of the first k places that hold something relevant (grade above 0); places that the
ranking left empty count as wrong. k: null for as many as were returned.';

create or replace function pgrag.recall_at(
    grades integer[],
    judged integer[],
    k integer default null
)
returns double precision
language sql
immutable
parallel safe
as $$
    select coalesce(
        (
            select count(*) filter (where g.grade > 0)
            from pg_catalog.unnest(
                recall_at.grades[:coalesce(recall_at.k, 2147483647)]
            ) as g (grade)
        )::double precision
            / nullif(
                (
                    select count(*)
                    from pg_catalog.unnest(recall_at.judged) as j (grade)
                    where j.grade > 0
                ),
                0
            ),
        0
    );
$$;

comment on function pgrag.recall_at(integer[], integer[], integer) is
'The share of everything relevant (grades above 0 in judged) that stands in the first k places; 0
where nothing is relevant. k: null for the whole list.';

create or replace function pgrag.hit_rate_at(
    grades integer[],
    k integer default null
)
returns double precision
language sql
immutable
parallel safe
as $$
    select exists (
        select
        from pg_catalog.unnest(
            hit_rate_at.grades[:coalesce(hit_rate_at.k, 2147483647)]
        ) as g (grade)
        where g.grade > 0
    )::integer::double precision;
$$;

comment on function pgrag.hit_rate_at(integer[], integer) is
'1 where something relevant (grade above 0) stands in the first k places, else 0; its mean over
queries is the share of the queries that were answered. k: null for the whole list.';

create or replace function pgrag.reciprocal_rank_at(
    grades integer[],
    k integer default null
)
returns double precision
language sql
immutable
parallel safe
as $$
    select coalesce(
        (
            select 1.0::double precision / min(g.place)
            from pg_catalog.unnest(
                reciprocal_rank_at.grades[:coalesce(reciprocal_rank_at.k, 2147483647)]
            )
                with ordinality as g (grade, place)
            where g.grade > 0
        ),
        0
    );
$$;

comment on function pgrag.reciprocal_rank_at(integer[], integer) is
'1 / the place of the first relevant result (grade above 0), 0 where the first k places hold none;
its mean over queries is MRR. k: null for the whole list.';

create or replace function pgrag.ndcg_at(
    grades integer[],
    judged integer[],
    k integer default null,
    gain text default 'linear'
)
returns double precision
language sql
immutable
parallel safe
as $$
    select coalesce(
        pgrag._discounted_gain(ndcg_at.grades, ndcg_at.k, ndcg_at.gain)
            / nullif(
                pgrag._discounted_gain(
                    (
                        select pg_catalog.array_agg(j.grade order by j.grade desc)
                        from pg_catalog.unnest(ndcg_at.judged) as j (grade)
                    ),
                    ndcg_at.k,
                    ndcg_at.gain
                ),
                0
            ),
        0
    );
$$;

comment on function pgrag.ndcg_at(integer[], integer[], integer, text) is
'Normalised discounted cumulative gain: the sum of gain / log2(place + 1) over the first k places,
divided by that of the best possible order of judged (Järvelin and Kekäläinen, TOIS 2002). gain:
linear (the grade, as trec_eval has it) or exponential (2 ^ grade - 1). 0 where nothing is relevant.
k: null for the whole list.';

create or replace function pgrag._discounted_gain(
    grades integer[],
    k integer,
    gain text
)
returns double precision
language sql
immutable
parallel safe
as $$
    select sum(
        case _discounted_gain.gain
            when 'exponential' then pg_catalog.power(2::double precision, g.grade) - 1
            when 'linear' then g.grade::double precision
        end
        / (pg_catalog.ln((g.place + 1)::double precision) / pg_catalog.ln(2::double precision))
    )
    from pg_catalog.unnest(
        _discounted_gain.grades[:coalesce(_discounted_gain.k, 2147483647)]
    )
        with ordinality as g (grade, place)
    where g.grade > 0;
$$;
