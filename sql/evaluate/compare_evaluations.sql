-- Compares two runs of a set query by query: means alone do not tell a difference from chance.
create or replace function pgrag.compare_evaluations(
    run_id bigint,
    other_run_id bigint,
    metric text default 'ndcg@10',
    permutations integer default 10000,
    seed bigint default 42
)
returns table (
    queries bigint,
    score double precision,
    other_score double precision,
    difference double precision,
    lower_bound double precision,
    upper_bound double precision,
    p_value double precision,
    wins bigint,
    losses bigint,
    ties bigint
)
language plpgsql
stable
parallel safe
rows 1
set search_path from current
set jit = off
as $$
#variable_conflict use_column
begin
    perform _pgrag.check_range('seed', compare_evaluations.seed, -(2.0 ^ 62), 2.0 ^ 62);
    perform _pgrag.check_range('permutations', compare_evaluations.permutations, 1, 1000000);
    return query
    select c.*
    from (
        select array_agg(d.score) as scores, array_agg(d.other_score) as other_scores
        from _pgrag.paired_scores(
            compare_evaluations.run_id, compare_evaluations.other_run_id, compare_evaluations.metric
        ) as d
    ) as s
    cross join lateral _pgrag.compared_scores(
        s.scores, s.other_scores, compare_evaluations.permutations, compare_evaluations.seed
    ) as c;
end;
$$;

comment on function pgrag.compare_evaluations is
'Compares two runs over the same queries: the means of a metric (see ranking_metric), their
difference (other - first) with its 95 % confidence interval (Student''s t over the queries), the
two-sided p value of a paired randomisation test with this many permutations (Smucker, Allan,
Carterette: CIKM 2007), and the number of queries for which the other run was better (wins), worse
or equal. The same seed gives the same p value. Errors: PGR01, PGR11.';

create or replace function _pgrag.paired_scores(
    run_id bigint,
    other_run_id bigint,
    metric text
)
returns table (
    query_id text,
    query text,
    score double precision,
    other_score double precision,
    difference double precision
)
language plpgsql
stable
parallel safe
as $$
#variable_conflict use_column
declare
    one pgrag.evaluation_runs := _pgrag.evaluation_run(paired_scores.run_id);
    other pgrag.evaluation_runs := _pgrag.evaluation_run(paired_scores.other_run_id);
begin
    if one.set_name <> other.set_name then
        raise exception 'Run % asked the set %, run % the set %.',
            one.run_id, quote_literal(one.set_name), other.run_id, quote_literal(other.set_name)
            using errcode = 'PGR01', hint = 'Only runs of one set can be compared.';
    elsif one.set_digest <> other.set_digest then
        raise exception 'The set % was imported again between run % and run %.',
            quote_literal(one.set_name), one.run_id, other.run_id
            using errcode = 'PGR01', hint = 'Run the older configuration again.';
    end if;
    return query
    select
        o.query_id, o.query, o.score, t.score,
        case when abs(t.score - o.score) < 1e-12 then 0 else t.score - o.score end
    from _pgrag.evaluation_scores(one.run_id, array[paired_scores.metric]) as o
    join _pgrag.evaluation_scores(other.run_id, array[paired_scores.metric]) as t
        on t.query_id = o.query_id
    order by o.query_id;
end;
$$;

-- Compares two lists of scores of the same queries (see compare_evaluations). The p value is the
-- share of random sign assignments with a difference at least as large; a sign is a bit of a hash,
-- so a seed gives the same value everywhere.
create or replace function _pgrag.compared_scores(
    scores double precision[],
    other_scores double precision[],
    permutations integer,
    seed bigint,
    two_sided boolean default true
)
returns table (
    queries bigint,
    before double precision,
    after double precision,
    difference double precision,
    lower_bound double precision,
    upper_bound double precision,
    p_value double precision,
    wins bigint,
    losses bigint,
    ties bigint
)
language sql
immutable
parallel safe
rows 1
as $$
    with differences as materialized (
        select
            s.score, s.other_score, s.nth,
            case
                when abs(s.other_score - s.score) < 1e-12 then 0
                else s.other_score - s.score
            end as difference
        from unnest(compared_scores.scores, compared_scores.other_scores)
            with ordinality as s (score, other_score, nth)
    ),
    summary as (
        select
            count(*) as queries,
            avg(d.score) as before,
            avg(d.other_score) as after,
            avg(d.difference) as difference,
            sum(d.difference) as total,
            stddev_samp(d.difference) / sqrt(count(*))
                * _pgrag.student_quantile(count(*) - 1) as margin,
            count(*) filter (where d.difference > 0) as wins,
            count(*) filter (where d.difference < 0) as losses,
            count(*) filter (where d.difference = 0) as ties
        from differences as d
    ),
    shuffled as (
        select sum(
            case pg_catalog.hashint8extended(p.number, compared_scores.seed + d.nth) & 1
                when 0 then d.difference
                else -d.difference
            end
        ) as total
        from pg_catalog.generate_series(1::bigint, compared_scores.permutations) as p (number)
        cross join differences as d
        where d.difference <> 0
        group by p.number
    )
    select
        s.queries, s.before, s.after, s.difference, s.difference - s.margin,
        s.difference + s.margin,
        case
            when s.wins + s.losses = 0 then 1
            else (
                select (
                    1 + count(*) filter (
                        where case
                            when compared_scores.two_sided
                            then abs(h.total) >= abs(s.total) - 1e-9
                            else h.total >= s.total - 1e-9
                        end
                    )
                ) / (1.0 + compared_scores.permutations)
                from shuffled as h
            )
        end::double precision,
        s.wins, s.losses, s.ties
    from summary as s;
$$;

-- The 0.975 quantile of Student's t, from the normal quantile (Abramowitz and Stegun: Handbook of
-- Mathematical Functions, 26.7.5).
create or replace function _pgrag.student_quantile(
    degrees bigint
)
returns double precision
language sql
immutable
parallel safe
as $$
    select z.z
        + (z.z ^ 3 + z.z) / (4 * d.d)
        + (5 * z.z ^ 5 + 16 * z.z ^ 3 + 3 * z.z) / (96 * d.d ^ 2)
        + (3 * z.z ^ 7 + 19 * z.z ^ 5 + 17 * z.z ^ 3 - 15 * z.z) / (384 * d.d ^ 3)
    from (select 1.959963984540054::double precision as z) as z
    cross join (
        select nullif(student_quantile.degrees, 0)::double precision as d
    ) as d;
$$;
