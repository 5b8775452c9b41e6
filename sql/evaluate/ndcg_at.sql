-- Normalised discounted cumulative gain.
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
        _pgrag.discounted_gain(ndcg_at.grades, ndcg_at.k, ndcg_at.gain)
            / nullif(
                _pgrag.discounted_gain(
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

comment on function pgrag.ndcg_at is
'Normalised discounted cumulative gain: the sum of gain / log2(rank + 1) over the first k ranks,
divided by the sum for the ideal order of judged (Järvelin and Kekäläinen, TOIS 2002). gain: linear
(the grade, as in trec_eval) or exponential (2 ^ grade - 1). 0 if nothing is relevant. k: null for
the whole list. Errors: PGR01 for grades above 500 with exponential gain.';

create or replace function _pgrag.discounted_gain(
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
        case discounted_gain.gain
            when 'exponential'
            then case when g.grade > 500
                then _pgrag.refuse(
                    pg_catalog.format('The grade %s is too large for exponential gain.', g.grade),
                    'Use grades up to 500, or linear gain (ndcg).'
                )::double precision
                else pg_catalog.power(2::double precision, g.grade) - 1
            end
            when 'linear' then g.grade::double precision
        end
        / (pg_catalog.ln((g.nth + 1)::double precision) / pg_catalog.ln(2::double precision))
    )
    from pg_catalog.unnest(
        discounted_gain.grades[:coalesce(discounted_gain.k, 2147483647)]
    )
        with ordinality as g (grade, nth)
    where g.grade > 0;
$$;
