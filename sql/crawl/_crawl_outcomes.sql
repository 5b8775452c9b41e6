-- What became of the addresses of a crawl, in groups.
create or replace function _pgrag.crawl_outcomes(
    library text,
    version text
)
returns table (
    outcome text,
    reason text,
    addresses bigint,
    example text
)
language sql
stable
parallel safe
set search_path from current
as $$
    select g.outcome, g.reason, count(*), min(g.url)
    from (
        select
            case
                when f.is_queued then 'queued'
                when f.failure is not null then 'failed'
                else f.outcome
            end as outcome,
            case
                when f.failure is not null then f.failure
                when f.outcome in ('skipped', 'gone') then f.reason
            end as reason,
            f.url
        from pgrag.fetched_pages as f
        join pgrag.crawls as c
            on c.library = f.library and c.version = f.version and c.number = f.crawl
        where f.library = lower(btrim(crawl_outcomes.library))
            and f.version = lower(btrim(coalesce(crawl_outcomes.version, '')))
    ) as g
    group by g.outcome, g.reason
    order by count(*) desc, g.outcome, g.reason;
$$;
