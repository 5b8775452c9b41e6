-- A crawl that did not end goes on if it begins with the same arguments.
create or replace function _pgrag.begin_crawl(
    library text,
    version text,
    arguments jsonb
)
returns table (
    number integer,
    is_resumed boolean
)
language plpgsql
volatile
set search_path from current
as $$
declare
    library_name text := lower(btrim(begin_crawl.library));
    version_label text := lower(btrim(coalesce(begin_crawl.version, '')));
    last_crawl pgrag.crawls;
begin
    perform _pgrag.check_names(library_name, version_label);
    if jsonb_typeof(begin_crawl.arguments) is distinct from 'object' then
        raise exception 'arguments must be an object, got %.', begin_crawl.arguments
            using errcode = 'PGR01';
    end if;
    perform _pgrag.check_address(begin_crawl.arguments ->> 'source');
    -- Bodies of a first crawl that nobody continues belong to no version and would stay for ever.
    delete from pgrag.crawls as c
    where c.finished_at is null and c.started_at < now() - interval '30 days';

    insert into pgrag.crawls as c (library, version, number, arguments, finished_at)
    values (library_name, version_label, 0, begin_crawl.arguments, now())
    on conflict on constraint crawls_pkey do update set number = c.number
    returning c.* into last_crawl;

    if last_crawl.finished_at is null and last_crawl.arguments = begin_crawl.arguments then
        update pgrag.fetched_pages as f
        set is_queued = true, failure = null
        where f.library = library_name
            and f.version = version_label
            and f.crawl = last_crawl.number
            and f.failure is not null;
        return query select last_crawl.number, true;
        return;
    end if;
    if last_crawl.arguments <> begin_crawl.arguments then
        -- Links were kept within the scope of the other arguments: every page is read again.
        update pgrag.fetched_pages as f
        set etag = null, last_modified = null
        where f.library = library_name and f.version = version_label;
    end if;
    update pgrag.crawls as c
    set (number, arguments, started_at, finished_at)
        = (last_crawl.number + 1, begin_crawl.arguments, now(), null)
    where c.library = library_name and c.version = version_label;
    update pgrag.fetched_pages as f
    set is_queued = false
    where f.library = library_name and f.version = version_label and f.is_queued;
    return query select last_crawl.number + 1, false;
end;
$$;
