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
    observed record := _pgrag.observed(days, library, period);
begin
    return query
    select
        _pgrag.period_start(answer_metrics.period, a.at, observed.since),
        a.library,
        count(*),
        avg((a.status = 'answered')::integer)::double precision,
        avg((a.status = 'not_in_documentation')::integer)::double precision,
        avg((a.status = 'failed')::integer)::double precision,
        avg((a.status = 'cancelled')::integer)::double precision,
        percentile_cont(0.5) within group (order by t.total_ms),
        percentile_cont(0.95) within group (order by t.total_ms),
        avg(a.prompt_tokens)::double precision,
        avg(a.completion_tokens)::double precision,
        sum(r.rating_sum)::double precision / nullif(sum(r.rating_count), 0)
    from pgrag.answers as a
    cross join lateral (
        select case
            when jsonb_typeof(a.timings -> 'total') = 'number'
            then (a.timings ->> 'total')::double precision
        end as total_ms
    ) as t
    left join lateral (
        select sum(f.rating) as rating_sum, count(*) as rating_count
        from pgrag.feedback as f
        -- A rating of one hit says nothing about the answer.
        where f.search_id = a.search_id and f.document_id is null
    ) as r on true
    where a.at >= observed.since and (observed.library is null or a.library = observed.library)
    group by 1, a.library
    order by 1 desc, a.library;
end;
$$;

comment on function pgrag.answer_metrics is
'Metrics of the recorded answers of the last days, for each period (day, week, month, or all days)
and library (null for several): number of answers, shares by status, median and 95th percentile of
the milliseconds, mean numbers of tokens sent to and received from the language model, and mean
rating of whole answers. Days are in UTC. Errors: PGR01 for days or period, PGR02.';
