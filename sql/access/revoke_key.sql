-- A revoked key keeps its row and its hashes, so that its callers learn why they are refused.
create or replace function pgrag.revoke_key(
    name text
)
returns timestamptz
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    revoked pgrag.keys := _pgrag.key_named(revoke_key.name);
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
    return revoked.revoked_at;
end;
$$;

comment on function pgrag.revoke_key is
'Ends a key at once and for good, with all its secrets, and returns when it was revoked; a key that
has been revoked stays so. Its name is not used again, so that the audit stays clear. Requests that
run already run to their end. Errors: PGR17.';
