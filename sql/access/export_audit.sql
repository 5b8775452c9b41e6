create or replace function pgrag.export_audit(
    since timestamptz default null,
    until timestamptz default null
)
returns setof jsonb
language sql
stable
parallel safe
set search_path from current
as $$
    select to_jsonb(a)
    from pgrag.audit as a
    where (export_audit.since is null or a.at >= export_audit.since)
        and (export_audit.until is null or a.at < export_audit.until)
    order by a.at, a.audit_id;
$$;

comment on function pgrag.export_audit is
'The entries of the audit from one moment (inclusive) to another (exclusive), null for no bound, the
oldest first, each as one JSON object with the columns of pgrag.audit_log.';
