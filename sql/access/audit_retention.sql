create or replace function pgrag.audit_retention()
returns integer
language sql
stable
parallel safe
as $$
    select s.audit_days from pgrag.observation_settings as s;
$$;

comment on function pgrag.audit_retention is
'The number of days for which entries of the audit are kept (365 unless changed by keep_audit);
null: for ever.';
