-- A further page of results is not a separate search: it counts for latency only.
create or replace function pgrag.search_metrics(
    days integer default 30,
    library text default null,
    period text default 'day'
)
returns table (
    starts_on date,
    library_name text,
    searches bigint,
    empty_share double precision,
    p50_ms double precision,
    p95_ms double precision,
    max_ms double precision,
    mean_hits double precision,
    mean_top_score double precision,
    mean_rating double precision,
    feedback_share double precision
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
        _pgrag.period_start(search_metrics.period, s.at, observed.since),
        s.library,
        count(*) filter (where not s.continued),
        avg(_pgrag.found_nothing(s.search_id, s.hit_count)::integer)
            filter (where not s.continued)::double precision,
        percentile_cont(0.5) within group (order by s.duration_ms),
        percentile_cont(0.95) within group (order by s.duration_ms),
        max(s.duration_ms),
        avg(s.hit_count) filter (where not s.continued)::double precision,
        -- Scores of reciprocal rank fusion do not measure relevance.
        avg(s.top_score) filter (
            where not s.continued and s.parameters ->> 'fusion' is distinct from 'rrf'
        ),
        sum(rated.rating_sum)::double precision / sum(rated.rating_count),
        avg((rated.search_id is not null)::integer)
            filter (where not s.continued)::double precision
    from pgrag.searches as s
    left join (
        select f.search_id, sum(f.rating) as rating_sum, count(*) as rating_count
        from pgrag.feedback as f
        group by f.search_id
    ) as rated on rated.search_id = s.search_id
    where s.at >= observed.since and (observed.library is null or s.library = observed.library)
    group by 1, s.library
    order by 1 desc, s.library;
end;
$$;

comment on function pgrag.search_metrics is
'Metrics of the recorded searches of the last days, for each period (day, week, month, or all days)
and library (null for several): number of searches, share without hits, median, 95th percentile and
maximum of the milliseconds, mean number of hits, mean score of the first hit (without searches
fused by reciprocal rank), mean rating, and share of rated searches. Further pages of results count
for the milliseconds only. Days are in UTC. Errors: PGR01 for days or period, PGR02.';

-- The scope of metrics. A removed library is accepted while its searches are recorded.
create or replace function _pgrag.observed(
    days integer,
    inout library text,
    period text default 'all',
    out since timestamptz
)
language plpgsql
stable
parallel safe
as $$
begin
    library := lower(btrim(library));
    if library is not null and not exists (
        select from pgrag.libraries as l where l.name = observed.library
    ) and not exists (
        select from pgrag.searches as s where s.library = observed.library
    ) then
        perform _pgrag.library_id(library);
    end if;
    perform _pgrag.check_range('days', days, 1, 36500);
    perform _pgrag.check_choice('period', period, '{day, week, month, all}');
    since := now() - make_interval(days => days);
end;
$$;

-- The first day, in UTC, of the period that contains a moment; period all begins at `since`.
create or replace function _pgrag.period_start(
    period text,
    moment timestamptz,
    since timestamptz
)
returns date
language sql
immutable
parallel safe
as $$
    select case
        when period_start.period = 'all'
        then (period_start.since at time zone 'UTC')::date
        else pg_catalog.date_trunc(
            period_start.period, period_start.moment at time zone 'UTC'
        )::date
    end;
$$;

-- Whether a search had no hits; a failed or cancelled answer says nothing about that.
create or replace function _pgrag.found_nothing(
    search_id uuid,
    hit_count integer
)
returns boolean
language sql
stable
parallel safe
as $$
    select
        found_nothing.hit_count = 0
        and not exists (
            select
            from pgrag.answers as a
            where a.search_id = found_nothing.search_id and a.status in ('failed', 'cancelled')
        );
$$;
