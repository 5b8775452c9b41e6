-- Copies are decided at the end, so that they depend on the site and not on the order of answers.
create or replace function _pgrag.finish_crawl(
    library text,
    version text,
    is_complete boolean default true
)
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    library_name text := lower(btrim(finish_crawl.library));
    version_label text := lower(btrim(coalesce(finish_crawl.version, '')));
begin
    delete from pgrag.fetched_pages as f
    using pgrag.crawls as c
    where c.library = library_name
        and c.version = version_label
        and f.library = c.library
        and f.version = c.version
        and f.crawl < c.number
        and finish_crawl.is_complete;

    with candidates as (
        select
            f.*,
            -- A site that names one canonical page for all of its pages does so by mistake.
            f.canonical is not null
            and count(*) over (partition by f.canonical) <= 20
            and exists (
                select from pgrag.fetched_pages as o
                where o.library = f.library
                    and o.version = f.version
                    and o.url = f.canonical
                    and o.url <> f.url
                    and o.outcome in ('page', 'copy')
            ) as names_another
        from pgrag.fetched_pages as f
        where f.library = library_name
            and f.version = version_label
            and f.outcome in ('page', 'copy')
    ),
    pages as (
        select
            c.*,
            -- A page that itself names another is not the one to keep: of pages that name each
            -- other none would be left.
            c.names_another and not o.names_another as has_canonical
        from candidates as c
        left join candidates as o on o.url = c.canonical
    ),
    ranked as (
        select
            p.url,
            case
                when p.has_canonical then p.canonical
                else coalesce(
                    nullif(first_value(p.url) over same_key, p.url),
                    nullif(first_value(p.url) over same_digest, p.url)
                )
            end as original
        from pages as p
        window
            same_key as (
                partition by p.key
                order by p.has_canonical, p.depth, length(p.url), p.url
            ),
            same_digest as (
                partition by coalesce(p.digest, p.url)
                order by p.has_canonical, p.depth, length(p.url), p.url
            )
    )
    update pgrag.fetched_pages as f
    set outcome = case when r.original is null then 'page' else 'copy' end,
        reason = r.original
    from ranked as r
    where f.library = library_name and f.version = version_label and f.url = r.url;

    update pgrag.crawls as c
    set finished_at = now()
    where c.library = library_name and c.version = version_label;
end;
$$;
