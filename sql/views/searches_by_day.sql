-- What counts as weak is the limit of gaps and of the sentence "no good match".
create or replace view pgrag.searches_by_day with (security_invoker = true) as
select
    (s.at at time zone current_setting('TimeZone'))::date as day,
    s.library,
    s.client,
    count(*) as searches,
    count(*) filter (where s.hit_count = 0) as without_hits,
    count(*) filter (where s.hit_count > 0 and s.confidence < 0.15) as weak,
    count(distinct s.caller) as callers,
    round(avg(f.rating), 2) as rating,
    percentile_cont(0.5) within group (order by s.duration_ms) as median_ms,
    percentile_cont(0.95) within group (order by s.duration_ms) as p95_ms
from pgrag.searches as s
left join lateral (
    select avg(each.rating) as rating
    from pgrag.feedback as each
    where each.search_id = s.search_id
) as f on true
where not s.continued
group by 1, 2, 3;

comment on view pgrag.searches_by_day is
'Recorded searches by day, library and client, without further pages of results.';
comment on column pgrag.searches_by_day.day is 'Day in the time zone of the session.';
comment on column pgrag.searches_by_day.library is 'Library searched; null: several or all.';
comment on column pgrag.searches_by_day.client is 'Program: rest, mcp, cli, sql or its own name.';
comment on column pgrag.searches_by_day.searches is 'Number of searches.';
comment on column pgrag.searches_by_day.without_hits is 'Those that found nothing.';
comment on column pgrag.searches_by_day.weak is
    'Those whose best hit has a confidence below 0.15: most likely no answer.';
comment on column pgrag.searches_by_day.callers is 'Number of keys and roles that searched.';
comment on column pgrag.searches_by_day.rating is
    'Mean rating of rated searches, 1 to 5; null: none was rated.';
comment on column pgrag.searches_by_day.median_ms is 'Median of milliseconds; null: not measured.';
comment on column pgrag.searches_by_day.p95_ms is '95th percentile of milliseconds.';
