-- The retention is stored in the database, so every service applies it.
create or replace function pgrag.forget_audit(
    older_than interval default null
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    -- No entry is 1000 years old; a longer interval might end before the first possible date.
    kept interval := least(
        coalesce(older_than, make_interval(days => pgrag.audit_retention())), interval '1000 years'
    );
begin
    if kept < interval '0' then
        raise exception 'older_than must not be negative, not %.', kept
            using errcode = 'PGR01', hint = 'Pass interval ''0'' to forget every entry.';
    end if;
    return _pgrag.forget_audit(clock_timestamp() - kept, null);
end;
$$;

comment on function pgrag.forget_audit is
'Removes entries of the audit that are older than older_than (by default the retention, see
pgrag.audit_retention), and returns their number. Old entries are also removed in small batches as
new ones are written; call this function only to remove all of them now. Errors: PGR01 for a
negative interval.';
