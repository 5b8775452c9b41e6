-- Writes one entry of the audit. A refusal that repeats is written once a minute: whoever is
-- refused must not be able to fill the disk.
create or replace function _pgrag.write_audit(
    entry jsonb
)
returns void
language plpgsql
volatile
as $$
declare
    said pgrag.audit := jsonb_populate_record(null::pgrag.audit, '{"allowed": true}' || entry);
begin
    -- One statement: of two, the plan would choose which one is refused, and so tell how large the
    -- table is.
    insert into pgrag.audit (caller, role, action, library, allowed, reason, address, search_id)
    select
        said.caller, said.role, left(said.action, 200), left(said.library, 200), said.allowed,
        left(said.reason, 1000), left(said.address, 100), said.search_id
    where said.allowed
        or not exists (
            select from pgrag.audit as a
            where a.at between now() - interval '1 minute' and now() + interval '1 minute'
                and not a.allowed
                and (a.caller, a.action, a.reason, a.address)
                    is not distinct from (said.caller, said.action, said.reason, said.address)
        );
    if not found then
        return;
    end if;
    if random() < 0.01 then
        -- Twice the entries added between two runs on average (1 in 100), so removal keeps up.
        perform _pgrag.forget_audit(now() - make_interval(days => s.audit_days), 200)
        from pgrag.observation_settings as s
        where s.audit_days is not null;
    end if;
end;
$$;

-- Deletes a batch of the oldest entries; skips locked rows, so it never waits.
create or replace function _pgrag.forget_audit(
    before timestamptz,
    batch_size integer
)
returns bigint
language plpgsql
volatile
as $$
declare
    forgotten bigint;
begin
    delete from pgrag.audit as a
    where a.audit_id in (
        select o.audit_id
        from pgrag.audit as o
        where o.at < forget_audit.before
        order by o.at
        limit forget_audit.batch_size
        for update skip locked
    );
    get diagnostics forgotten = row_count;
    return forgotten;
end;
$$;
