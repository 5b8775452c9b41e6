-- Two runs of one set, query by query: a mean alone does not say whether the difference is chance.
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
    if compare_evaluations.permutations is null
        or compare_evaluations.permutations not between 1 and 1000000
    then
        raise exception 'permutations must be 1 to 1000000, got %.',
            coalesce(compare_evaluations.permutations::text, 'null')
            using errcode = 'PGR01';
    end if;
    return query
    with differences as materialized (
        select
            d.difference, d.score, d.other_score,
            row_number() over (order by d.query_id) as place
        from pgrag._paired_scores(
            compare_evaluations.run_id, compare_evaluations.other_run_id, compare_evaluations.metric
        ) as d
    ),
    summary as (
        select
            count(*) as queries,
            avg(d.score) as score,
            avg(d.other_score) as other_score,
            avg(d.difference) as difference,
            sum(d.difference) as total,
            stddev_samp(d.difference) / sqrt(count(*)) as standard_error,
            count(*) filter (where d.difference > 0) as wins,
            count(*) filter (where d.difference < 0) as losses,
            count(*) filter (where d.difference = 0) as ties
        from differences as d
    ),
    -- Were the runs alike, every difference might as well have the other sign. Those of 0 change
    -- nothing, and the sign is a bit of a hash: the same seed gives the same answer everywhere.
    shuffled as (
        select abs(
            sum(
                case hashint8extended(p.number, compare_evaluations.seed + d.place) & 1
                    when 0 then d.difference
                    else -d.difference
                end
            )
        ) as total
        from generate_series(1::bigint, compare_evaluations.permutations) as p (number)
        cross join differences as d
        where d.difference <> 0
        group by p.number
    )
    select
        s.queries,
        s.score,
        s.other_score,
        s.difference,
        s.difference - s.standard_error * pgrag._student_quantile(s.queries - 1),
        s.difference + s.standard_error * pgrag._student_quantile(s.queries - 1),
        case
            when s.wins + s.losses = 0 then 1
            else (
                select (1 + count(*) filter (where h.total >= abs(s.total) - 1e-9))
                    / (1.0 + compare_evaluations.permutations)
                from shuffled as h
            )
        end::double precision,
        s.wins,
        s.losses,
        s.ties
    from summary as s;
end;
$$;

comment on function pgrag.compare_evaluations(bigint, bigint, text, integer, bigint) is
'How the other run differs from the first one, which asked the same queries: the means of a metric
(see ranking_metric), their difference (other - first) with its 95 % confidence interval (Student''s
t over the queries), the two-sided p value of a paired randomisation test with so many permutations
(Smucker, Allan, Carterette: CIKM 2007), and for how many queries the other run was better (wins),
worse or equal. The same seed gives the same p value. Errors: PGR01, PGR11.';

create or replace function pgrag.moved_queries(
    run_id bigint,
    other_run_id bigint,
    metric text default 'ndcg@10',
    match_count integer default 10
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
set search_path from current
as $$
#variable_conflict use_column
begin
    return query
    select d.query_id, d.query, d.score, d.other_score, d.difference
    from pgrag._paired_scores(
        moved_queries.run_id, moved_queries.other_run_id, moved_queries.metric
    ) as d
    where d.difference <> 0
    order by abs(d.difference) desc, d.difference, d.query_id
    limit greatest(moved_queries.match_count, 0);
end;
$$;

comment on function pgrag.moved_queries(bigint, bigint, text, integer) is
'The queries whose metric differs most between two runs of one set, in either direction. Errors:
PGR01, PGR11.';

create or replace function pgrag._paired_scores(
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
set search_path from current
as $$
#variable_conflict use_column
declare
    one pgrag.evaluation_runs;
    other pgrag.evaluation_runs;
begin
    select r.* into one
    from pgrag.evaluation_runs as r
    where r.run_id = pgrag._evaluation_run_id(_paired_scores.run_id);
    select r.* into other
    from pgrag.evaluation_runs as r
    where r.run_id = pgrag._evaluation_run_id(_paired_scores.other_run_id);
    if one.set_name <> other.set_name then
        raise exception 'Run % asked the set %, run % the set %.',
            one.run_id, quote_literal(one.set_name), other.run_id, quote_literal(other.set_name)
            using errcode = 'PGR01', hint = 'Only runs of one set can be compared.';
    elsif one.set_digest <> other.set_digest then
        raise exception 'The set % was imported anew between run % and run %.',
            quote_literal(one.set_name), one.run_id, other.run_id
            using errcode = 'PGR01', hint = 'Run the older configuration again.';
    end if;
    return query
    select
        o.query_id, o.query, o.score, t.score,
        case when abs(t.score - o.score) < 1e-12 then 0 else t.score - o.score end
    from pgrag.evaluation_scores(one.run_id, array[_paired_scores.metric]) as o
    join pgrag.evaluation_scores(other.run_id, array[_paired_scores.metric]) as t
        on t.query_id = o.query_id;
end;
$$;

-- The 0.975 quantile of Student's t, from that of the normal distribution (Abramowitz and Stegun:
-- Handbook of Mathematical Functions, 26.7.5).
create or replace function pgrag._student_quantile(
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
        select nullif(_student_quantile.degrees, 0)::double precision as d
    ) as d;
$$;
