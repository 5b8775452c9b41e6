-- How the answers of a time were: what search_metrics is for searches.
create or replace function pgrag.answer_metrics(
    days integer default 30,
    library text default null,
    period text default 'day'
)
returns table (
    starts_on date,
    library_name text,
    answers bigint,
    answered_share double precision,
    not_in_documentation_share double precision,
    failed_share double precision,
    cancelled_share double precision,
    p50_ms double precision,
    p95_ms double precision,
    mean_prompt_tokens double precision,
    mean_completion_tokens double precision,
    mean_rating double precision
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted text := pgrag._observed_library(answer_metrics.library);
    since timestamptz := pgrag._observed_since(answer_metrics.days);
begin
    perform pgrag._check_period(answer_metrics.period);
    return query
    select
        o.starts_on,
        o.library,
        count(*),
        avg((o.status = 'answered')::integer)::double precision,
        avg((o.status = 'not_in_documentation')::integer)::double precision,
        avg((o.status = 'failed')::integer)::double precision,
        avg((o.status = 'cancelled')::integer)::double precision,
        percentile_cont(0.5) within group (order by o.total_ms),
        percentile_cont(0.95) within group (order by o.total_ms),
        avg(o.prompt_tokens)::double precision,
        avg(o.completion_tokens)::double precision,
        sum(o.rating_sum)::double precision / nullif(sum(o.rating_count), 0)
    from (
        select
            pgrag._period_start(answer_metrics.period, a.at, since) as starts_on,
            a.library,
            a.status,
            case
                when jsonb_typeof(a.timings -> 'total') = 'number'
                then (a.timings ->> 'total')::double precision
            end as total_ms,
            a.prompt_tokens,
            a.completion_tokens,
            rated.rating_sum,
            rated.rating_count
        from pgrag.answers as a
        left join lateral (
            select sum(f.rating) as rating_sum, count(*) as rating_count
            from pgrag.feedback as f
            -- A rating of one hit says nothing about the answer.
            where f.search_id = a.search_id and f.document_id is null
        ) as rated on true
        where a.at >= since and (wanted is null or a.library = wanted)
    ) as o
    group by o.starts_on, o.library
    order by o.starts_on desc, o.library;
end;
$$;

comment on function pgrag.answer_metrics(integer, text, text) is
'What recorded answers of the last days were like, for each period (day, week, month, or all of
them) and library (null: of several): their number, the shares by status, the milliseconds that half
of them and 95 % of them stayed below, the mean tokens that went to the language model and came
back, and the mean rating of whole answers. Days are those of UTC. Errors: PGR01 days or period,
PGR02.';
