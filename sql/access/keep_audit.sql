create or replace function pgrag.keep_audit(
    days integer
)
returns integer
language plpgsql
volatile
set search_path from current
as $$
begin
    if days not between 1 and 36500 then
        raise exception 'The audit is kept for 1 to 36500 days, not %.', days
            using errcode = 'PGR01', hint = 'null (in the shell: forever) keeps it forever.';
    end if;
    insert into pgrag.observation_settings as s (audit_days)
    values (keep_audit.days)
    on conflict (singleton) do update set audit_days = excluded.audit_days;
    return days;
end;
$$;

comment on function pgrag.keep_audit is
'Sets the number of days for which entries of the audit are kept, and returns it; null: for ever.
Errors: PGR01 outside 1 to 36500.';
