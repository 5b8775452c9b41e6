-- Two secrets are valid while programs change from one to the other.
create or replace function pgrag.rotate_key(
    name text,
    grace interval default '1 day'
)
returns text
language plpgsql
volatile
set search_path from current
as $$
declare
    rotated pgrag.keys := _pgrag.key_named(rotate_key.name);
begin
    if rotated.revoked_at is not null then
        raise exception 'The key % has been revoked.', rotated.name
            using errcode = 'PGR01', hint = 'Create another key.';
    elsif coalesce(grace not between interval '0' and interval '100 years', true) then
        raise exception 'grace must be 0 to 100 years, not %.', coalesce(grace::text, 'null')
            using errcode = 'PGR01', hint = 'Pass interval ''0'' to end the old secret at once.';
    end if;
    delete from pgrag.key_secrets as s
    where s.key_id = rotated.key_id and s.expires_at is not null;
    update pgrag.key_secrets as s
    set expires_at = now() + rotate_key.grace
    where s.key_id = rotated.key_id;
    perform _pgrag.write_audit(
        jsonb_build_object('caller', current_user, 'action', 'rotate_key ' || rotated.name)
    );
    return _pgrag.new_secret(rotated.key_id, rotated.kind);
end;
$$;

comment on function pgrag.rotate_key is
'Gives a key another secret and returns it; it is shown this once. The present secret stays valid
for the time of grace, by default a day; an earlier one ends at once, so at most two are valid.
Name, role, limits and expiry stay. Errors: PGR01 for a revoked key or for grace, PGR17.';

-- The key of a name, locked: two rotations at once would leave three secrets.
create or replace function _pgrag.key_named(
    name text
)
returns pgrag.keys
language plpgsql
volatile
as $$
declare
    stored_key pgrag.keys;
begin
    select k.* into stored_key
    from pgrag.keys as k
    where k.name = lower(btrim(key_named.name))
    for no key update;
    if not found then
        raise exception 'There is no key %.', coalesce(quote_literal(key_named.name), 'null')
            using errcode = 'PGR17', hint = '`pgrag keys list` and pgrag.keys() list them.';
    end if;
    return stored_key;
end;
$$;
