-- The retention is stored in the database, so every program that records searches applies it.
create or replace function pgrag.forget_searches(
    older_than interval default null
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    -- No search is older than the bound, and no date is so long ago that it could not be written.
    kept interval := least(
        coalesce(older_than, make_interval(days => pgrag.search_retention())), interval '1000 years'
    );
    batch bigint;
    forgotten bigint := 0;
begin
    if kept < interval '0' then
        raise exception 'older_than must not be negative, not %.', kept
            using errcode = 'PGR01', hint = 'Pass interval ''0'' to forget every search.';
    end if;
    loop
        exit when kept is null;
        batch := _pgrag.forget_searches(clock_timestamp() - kept, 5000);
        exit when batch = 0;
        forgotten := forgotten + batch;
    end loop;
    return forgotten;
end;
$$;

comment on function pgrag.forget_searches is
'Removes recorded searches that are older than older_than (by default the retention, see
pgrag.search_retention), with their hits, feedback and answers, and returns their number. Searches
locked by another session are skipped until the next call. Recording removes old searches in small
batches; call this function only to remove all of them now. Errors: PGR01 for a negative interval.';
