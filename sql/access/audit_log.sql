create or replace function pgrag.audit_log(
    since timestamptz default null,
    until timestamptz default null,
    caller text default null,
    library text default null,
    refused boolean default null,
    top_k integer default 100
)
returns setof pgrag.audit
language sql
stable
parallel safe
set search_path from current
as $$
    select a.*
    from pgrag.audit as a
    where (audit_log.since is null or a.at >= audit_log.since)
        and (audit_log.until is null or a.at < audit_log.until)
        and (audit_log.caller is null or a.caller = lower(btrim(audit_log.caller)))
        and (audit_log.library is null or a.library = lower(btrim(audit_log.library)))
        and (audit_log.refused is null or a.allowed <> audit_log.refused)
    order by a.at desc, a.audit_id desc
    limit case when audit_log.top_k < 0 then 0 else audit_log.top_k end;
$$;

comment on function pgrag.audit_log is
'The audit from one moment (inclusive) to another (exclusive), null for no bound, the latest first:
requests with a key, refused requests, changes without a key, and changes of keys. caller: the name
of the key, null without one, or the role that changed a key. action: the operation of REST, the
tool of MCP, or create_key, rotate_key and revoke_key with the name of the key. library: the one
that was named, null for several or none. refused: only what was refused (true) or allowed (false).
reason: why it was refused; a refusal that repeats is kept once a minute. address: where the request
came from. search_id: the recorded search. top_k: at most this many rows, null for all.';
