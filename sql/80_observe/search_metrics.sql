-- A further page of results is no search of its own: it counts for latency alone.
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
    wanted text := pgrag._observed_library(search_metrics.library);
    since timestamptz := pgrag._observed_since(search_metrics.days);
begin
    perform pgrag._check_period(search_metrics.period);
    return query
    select
        observed.starts_on,
        observed.library,
        count(*) filter (where observed.is_first),
        avg(observed.is_empty::integer) filter (where observed.is_first)::double precision,
        percentile_cont(0.5) within group (order by observed.duration_ms),
        percentile_cont(0.95) within group (order by observed.duration_ms),
        max(observed.duration_ms),
        avg(observed.hit_count) filter (where observed.is_first)::double precision,
        avg(observed.top_score) filter (where observed.is_first and not observed.by_ranks),
        sum(observed.rating_sum)::double precision / nullif(sum(observed.rating_count), 0),
        avg((observed.rating_count > 0)::integer)
            filter (where observed.is_first)::double precision
    from (
        select
            pgrag._period_start(search_metrics.period, s.at, since) as starts_on,
            s.library,
            s.duration_ms,
            s.hit_count,
            s.top_score,
            pgrag._found_nothing(s.search_id, s.hit_count) as is_empty,
            not s.continued as is_first,
            -- Sums of reciprocal ranks say nothing about relevance.
            coalesce(s.parameters ->> 'fusion' = 'rrf', false) as by_ranks,
            coalesce(rated.rating_sum, 0) as rating_sum,
            coalesce(rated.rating_count, 0) as rating_count
        from pgrag.searches as s
        left join (
            select f.search_id, sum(f.rating) as rating_sum, count(*) as rating_count
            from pgrag.feedback as f
            group by f.search_id
        ) as rated on rated.search_id = s.search_id
        where s.at >= since and (wanted is null or s.library = wanted)
    ) as observed
    group by observed.starts_on, observed.library
    order by observed.starts_on desc, observed.library;
end;
$$;

comment on function pgrag.search_metrics(integer, text, text) is
'What recorded searches of the last days were like, for each period (day, week, month, or all of
them) and library (null: of several): their number, the share without a hit, the milliseconds that
half of them, 95 % of them and all of them stayed below, the mean number of hits, the mean score of
the first hit (not of searches fused by ranks), the mean rating, and the share that was rated. The
further pages of a list count for the milliseconds only. Days are those of UTC. Errors: PGR01 days
or period, PGR02.';

create or replace function pgrag.popular_queries(
    days integer default 30,
    library text default null,
    match_count integer default 20
)
returns table (
    query text,
    searches bigint,
    last_at timestamptz,
    empty_share double precision,
    mean_top_score double precision,
    mean_rating double precision,
    median_ms double precision
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted text := pgrag._observed_library(popular_queries.library);
    since timestamptz := pgrag._observed_since(popular_queries.days);
begin
    return query
    with asked as (
        select
            regexp_replace(lower(btrim(s.query)), '\s+', ' ', 'g') as query,
            count(*) as searches,
            max(s.at) as last_at,
            avg(
                pgrag._found_nothing(s.search_id, s.hit_count)::integer
            )::double precision as empty_share,
            avg(s.top_score) filter (
                where s.parameters ->> 'fusion' is distinct from 'rrf'
            ) as mean_top_score,
            percentile_cont(0.5) within group (order by s.duration_ms) as median_ms,
            array_agg(s.search_id) as search_ids
        from pgrag.searches as s
        where s.at >= since and not s.continued and (wanted is null or s.library = wanted)
        group by 1
        order by count(*) desc, max(s.at) desc, 1
        limit popular_queries.match_count
    )
    select
        a.query,
        a.searches,
        a.last_at,
        a.empty_share,
        a.mean_top_score,
        (
            select avg(f.rating)::double precision
            from pgrag.feedback as f
            where f.search_id = any (a.search_ids)
        ),
        a.median_ms
    from asked as a
    order by a.searches desc, a.last_at desc, a.query;
end;
$$;

comment on function pgrag.popular_queries(integer, text, integer) is
'The queries that were asked most in the last days, in lower case and with single blanks: how often,
when last, the share without a hit, the mean score of the first hit, the mean rating and the median
of the milliseconds. Errors: PGR01 days, PGR02.';

create or replace function pgrag.empty_queries(
    days integer default 30,
    library text default null,
    match_count integer default 20
)
returns table (
    query text,
    library_name text,
    searches bigint,
    last_at timestamptz
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted text := pgrag._observed_library(empty_queries.library);
    since timestamptz := pgrag._observed_since(empty_queries.days);
begin
    return query
    select
        regexp_replace(lower(btrim(s.query)), '\s+', ' ', 'g'),
        s.library,
        count(*),
        max(s.at)
    from pgrag.searches as s
    where s.at >= since
        and pgrag._found_nothing(s.search_id, s.hit_count)
        and not s.continued
        and (wanted is null or s.library = wanted)
    group by 1, 2
    order by count(*) desc, max(s.at) desc, 1
    limit empty_queries.match_count;
end;
$$;

comment on function pgrag.empty_queries(integer, text, integer) is
'The queries of the last days that found nothing, those asked most often first: what readers look
for and the documentation, or the filters of the search, leave out. Errors: PGR01 days, PGR02.';

create or replace function pgrag.search_history(
    days integer default 30,
    library text default null,
    match_count integer default 20,
    slowest boolean default false
)
returns table (
    search_id uuid,
    at timestamptz,
    client text,
    library_name text,
    version text,
    query text,
    hit_count integer,
    top_score double precision,
    duration_ms double precision,
    timings jsonb,
    parameters jsonb
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted text := pgrag._observed_library(search_history.library);
    since timestamptz := pgrag._observed_since(search_history.days);
begin
    return query
    select
        s.search_id, s.at, s.client, s.library, s.version, s.query, s.hit_count, s.top_score,
        s.duration_ms, s.timings, s.parameters
    from pgrag.searches as s
    where s.at >= since and (wanted is null or s.library = wanted)
    order by
        case when search_history.slowest then s.duration_ms end desc nulls last,
        s.at desc,
        s.search_id
    limit search_history.match_count;
end;
$$;

comment on function pgrag.search_history(integer, text, integer, boolean) is
'Recorded searches of the last days, the latest first, or with slowest those that took longest.
timings: milliseconds by step. Errors: PGR01 days, PGR02.';

create or replace function pgrag._observed_since(
    days integer
)
returns timestamptz
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    if coalesce(days not between 1 and 36500, true) then
        raise exception 'days must be 1 to 36500, not %.', coalesce(days::text, 'null')
            using errcode = 'PGR01', hint = 'Say how many days to look back.';
    end if;
    return now() - make_interval(days => days);
end;
$$;

create or replace function pgrag._check_period(
    period text
)
returns void
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    if coalesce(period not in ('day', 'week', 'month', 'all'), true) then
        raise exception 'period must be day, week, month or all, not %.', quote_nullable(period)
            using errcode = 'PGR01', hint = 'Weeks begin on Monday; days are those of UTC.';
    end if;
end;
$$;

-- The day, of UTC, on which the period begins that a moment is in; all of it begins with the first.
create or replace function pgrag._period_start(
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
        when _period_start.period = 'all'
        then (_period_start.since at time zone 'UTC')::date
        else pg_catalog.date_trunc(
            _period_start.period, _period_start.moment at time zone 'UTC'
        )::date
    end;
$$;

-- A library that is gone is still known by the searches in it.
create or replace function pgrag._observed_library(
    library text
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    wanted text := lower(btrim(_observed_library.library));
begin
    if wanted is null or exists (
        select from pgrag.libraries as l where l.name = wanted
    ) or exists (
        select from pgrag.searches as s where s.library = wanted
    ) then
        return wanted;
    end if;
    perform pgrag._library_id(wanted);
    return wanted;
end;
$$;

-- An agent that failed, or was stopped, before it had found anything says nothing about what there
-- is to find.
create or replace function pgrag._found_nothing(
    search_id uuid,
    hit_count integer
)
returns boolean
language sql
stable
parallel safe
as $$
    select
        _found_nothing.hit_count = 0
        and not exists (
            select
            from pgrag.answers as a
            where a.search_id = _found_nothing.search_id and a.status in ('failed', 'cancelled')
        );
$$;
