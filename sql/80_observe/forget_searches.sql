-- How long records stay is a row of the database, so that every program that writes them knows it.
create or replace function pgrag.forget_searches(
    older_than interval default null
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    kept interval := coalesce(older_than, make_interval(days => pgrag.search_retention()));
    batch bigint;
    forgotten bigint := 0;
begin
    if kept < interval '0' then
        raise exception 'older_than must not be negative, not %.', kept
            using errcode = 'PGR01', hint = 'Pass interval ''0'' to forget every search.';
    end if;
    loop
        exit when kept is null;
        batch := pgrag._forget_searches(clock_timestamp() - kept, 5000);
        exit when batch = 0;
        forgotten := forgotten + batch;
    end loop;
    return forgotten;
end;
$$;

comment on function pgrag.forget_searches(interval) is
'Removes recorded searches that are older than so long (default: the retention, see
pgrag.search_retention), with their hits, feedback and answers, and returns how many there were.
What another session has in hand stays for the next time. Recording itself removes old ones in small
batches, so this is only needed to be rid of them at once. Errors: PGR01 for a negative interval.';

create or replace function pgrag.search_retention()
returns integer
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    return (select s.retention_days from pgrag.observation_settings as s);
end;
$$;

comment on function pgrag.search_retention() is
'For how many days recorded searches are kept (90 unless changed by keep_searches); null: for
ever.';

create or replace function pgrag.keep_searches(
    days integer
)
returns integer
language plpgsql
volatile
set search_path from current
as $$
begin
    if days not between 1 and 36500 then
        raise exception 'Searches are kept for 1 to 36500 days, not %.', days
            using errcode = 'PGR01', hint = 'Pass null to keep them for ever.';
    end if;
    insert into pgrag.observation_settings as s (retention_days)
    values (keep_searches.days)
    on conflict (singleton) do update set retention_days = excluded.retention_days;
    return days;
end;
$$;

comment on function pgrag.keep_searches(integer) is
'Sets for how many days recorded searches are kept, and returns it; null: for ever. Errors: PGR01
outside 1 to 36500.';
