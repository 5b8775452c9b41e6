-- One call for each request to a service: who calls, whether the caller may, and within which
-- limits. Only the hash of a secret comes here; an unknown one costs the same look-up as a known
-- one. A service that is busy with a key asks for several requests at once; see use_key.
create or replace function _pgrag.admit(
    hash bytea,
    needed_role text,
    is_for_pages boolean,
    origin text,
    is_foreign boolean,
    lasts interval,
    wanted integer default 1,
    at_once integer default 1,
    held timestamptz default null,
    holding integer default 0,
    unused integer default 0,
    out refusal text,
    out key_id bigint,
    out caller text,
    out role text,
    out kind text,
    out database_role text,
    out library_ids text,
    out timeout_ms integer,
    out lease timestamptz,
    out granted integer,
    out slots integer,
    out burst integer,
    out rate double precision,
    out remaining integer,
    out full_in double precision,
    out retry_after double precision
)
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    known record;
    is_separating boolean;
begin
    select k.*, s.expires_at as secret_expires_at
    into known
    from pgrag.key_secrets as s
    join pgrag.keys as k on k.key_id = s.key_id
    where s.hash = admit.hash;
    if not found then
        refusal := 'unknown';
        return;
    end if;
    key_id := known.key_id;
    caller := known.name;
    role := known.role;
    kind := known.kind;
    timeout_ms := known.timeout_ms;
    burst := known.burst;
    rate := known.rate;
    is_separating := _pgrag.separates_libraries();
    refusal := case
        when known.revoked_at is not null then 'revoked'
        when known.expires_at <= now() then 'expired'
        when known.secret_expires_at <= now() then 'rotated'
        when known.kind = 'secret' and is_foreign then 'browser'
        when known.kind = 'publishable' and not coalesce(
            lower(admit.origin) = any (known.origins), false
        ) then 'origin'
        when known.kind = 'publishable' and not is_for_pages then 'publishable'
        when array_position('{search,write,admin}', known.role)
            < array_position('{search,write,admin}', needed_role) then 'role'
        when known.libraries <> '{*}' and not is_separating then 'separation'
    end;
    if refusal is not null then
        return;
    end if;
    if is_separating then
        database_role := case known.role
            when 'search' then 'pgrag_reader'
            when 'write' then 'pgrag_writer'
            when 'admin' then 'pgrag_admin'
        end;
    end if;
    library_ids := case
        when known.libraries = '{*}' then '*'
        else array(
            select l.library_id
            from pgrag.libraries as l
            where l.name = any (known.libraries)
            order by l.library_id
        )::text
    end;
    if current_setting('transaction_read_only')::boolean then
        -- A replica: limits are counted where they can be written.
        return;
    end if;
    -- A power failure may forget the last requests of a key, which have failed by it, too.
    perform set_config('synchronous_commit', 'off', true);
    select u.* into refusal, lease, granted, slots, remaining, full_in, retry_after
    from _pgrag.use_key(
        known.key_id, known.rate, known.burst, known.concurrency, lasts,
        wanted, at_once, held, holding, unused
    ) as u;
    if known.last_used_at is null or known.last_used_at < now() - interval '1 minute' then
        update pgrag.keys as k
        set last_used_at = now()
        where k.key_id = known.key_id
            and (k.last_used_at is null or k.last_used_at < now() - interval '1 minute');
    end if;
end;
$$;

-- The generic cell rate algorithm (ITU-T I.371), over all services of the database: the row lock
-- lets one request of a key count at a time. A refused request costs nothing.
--
-- More than one request may be wanted, of which `at_once` run at the same time. Up to a quarter of
-- what remains is granted under one lease, and half of the free slots; one request if that is not
-- more. `held` is the lease that the service has had: the new one takes its place, with the
-- `holding` requests that run under it, and its `unused` requests count as not granted.
create or replace function _pgrag.use_key(
    key_id bigint,
    rate double precision,
    burst integer,
    concurrency integer,
    lasts interval,
    wanted integer,
    at_once integer,
    held timestamptz,
    holding integer,
    unused integer,
    out refusal text,
    out lease timestamptz,
    out granted integer,
    out slots integer,
    out remaining integer,
    out full_in double precision,
    out retry_after double precision
)
language plpgsql
volatile
as $$
#variable_conflict use_column
declare
    used pgrag.key_usage;
    moment timestamptz;
    room double precision;
begin
    select u.* into used
    from pgrag.key_usage as u
    where u.key_id = use_key.key_id
    for no key update;
    if not found then
        insert into pgrag.key_usage (key_id, full_at)
        values (use_key.key_id, clock_timestamp())
        on conflict do nothing;
        select u.* into used
        from pgrag.key_usage as u
        where u.key_id = use_key.key_id
        for no key update;
    end if;
    moment := clock_timestamp();
    used.running := array(
        select r from unnest(used.running) as r where r > moment and r is distinct from held
    );
    full_in := greatest(
        0, extract(epoch from used.full_at - moment)::double precision - unused / rate
    );
    room := burst / rate - full_in;
    -- Within rounding error of a request counts as one: sums of intervals are not exact.
    remaining := greatest(0, floor(room * rate + 1e-6)::integer);
    if remaining = 0 then
        refusal := 'rate';
        retry_after := 1 / rate - room;
        return;
    elsif cardinality(used.running) + holding >= concurrency then
        refusal := 'concurrency';
        retry_after := 1;
        return;
    end if;
    lease := moment + lasts;
    granted := greatest(1, least(wanted, remaining / 4));
    slots := least(at_once, (concurrency - cardinality(used.running)) / 2);
    if granted > 1 and slots > holding then
        used.running := used.running || array_fill(lease, array[slots]);
    else
        granted := 1;
        slots := 1;
        used.running := used.running || array_fill(held, array[holding]) || lease;
    end if;
    remaining := remaining - granted;
    full_in := full_in + granted / rate;
    update pgrag.key_usage as u
    set full_at = moment + make_interval(secs => use_key.full_in),
        running = used.running
    where u.key_id = use_key.key_id;
end;
$$;

-- Ends what use_key granted: the requests under a lease no longer run, up to those that are still
-- `running`, and those that were not used can be used again. It never adds a request: of two calls
-- the later one may come first.
create or replace function _pgrag.return_lease(
    key_id bigint,
    lease timestamptz,
    running integer default 0,
    unused integer default 0
)
returns void
language sql
volatile
as $$
    update pgrag.key_usage as u
    set running = array_remove(u.running, return_lease.lease)
            || array_fill(
                return_lease.lease,
                array[least(
                    return_lease.running,
                    cardinality(array_positions(u.running, return_lease.lease))
                )]
            ),
        full_at = u.full_at - make_interval(secs => return_lease.unused / k.rate)
    from pgrag.keys as k
    where u.key_id = return_lease.key_id and k.key_id = return_lease.key_id;
$$;
