-- A revoked key keeps its row and its hashes, so that its callers learn why they are refused.
create or replace function pgrag.revoke_key(
    name text
)
returns timestamptz
language plpgsql
volatile
set search_path from current
as $$
declare
    revoked pgrag.keys := _pgrag.key_named(revoke_key.name);
    cancelled bigint;
begin
    if revoked.revoked_at is null then
        update pgrag.keys as k
        set revoked_at = now()
        where k.key_id = revoked.key_id
        returning k.* into revoked;
        perform _pgrag.write_audit(
            jsonb_build_object('caller', current_user, 'action', 'revoke_key ' || revoked.name)
        );
    end if;
    -- Also of a key that was revoked before: a request that ran then may have made one.
    select _pgrag.cancel_jobs(array_agg(j.job_id))
    into cancelled
    from pgrag.jobs as j
    where j.asked_by = revoked.name and j.confined;
    if cancelled > 0 then
        raise notice 'Its jobs that waited or ran were cancelled: %.', cancelled;
    end if;
    return revoked.revoked_at;
end;
$$;

comment on function pgrag.revoke_key is
'Ends a key at once and for good, with all its secrets, and returns when it was revoked; a key that
has been revoked stays so. Its name is not used again, so that the audit stays clear. Requests that
have begun still run to their end; its jobs are cancelled, with their schedules, and a notice says
how many. Errors: PGR17.';
