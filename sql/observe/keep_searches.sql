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
            using errcode = 'PGR01', hint = 'null (in the shell: forever) keeps them forever.';
    end if;
    insert into pgrag.observation_settings as s (retention_days)
    values (keep_searches.days)
    on conflict (singleton) do update set retention_days = excluded.retention_days;
    return days;
end;
$$;

comment on function pgrag.keep_searches is
'Sets the number of days for which recorded searches are kept, and returns it; null: for ever.
Errors: PGR01 outside 1 to 36500.';
