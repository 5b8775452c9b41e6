-- Admits a request with a key: who calls, whether the caller may, and within which limits. Only the
-- hash of a secret comes here; an unknown one costs the same look-up as a known one.
--
-- The rate is limited by the generic cell rate algorithm (ITU-T I.371), the concurrency by a lease
-- for each running request. The row lock on key_usage makes both exact for all services of the
-- database. A refused request costs nothing.
create or replace function _pgrag.admit(
    hash bytea,
    needed_role text,
    is_for_pages boolean,
    origin text,
    is_foreign boolean,
    lasts interval,
    is_for_answers boolean,
    out refusal text,
    out key_id bigint,
    out caller text,
    out role text,
    out database_role text,
    out library_ids text,
    out timeout_ms integer,
    out lease timestamptz,
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
    used pgrag.key_usage;
    moment timestamptz;
    room double precision;
    is_separating constant boolean := _pgrag.separates_libraries();
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
    timeout_ms := known.timeout_ms;
    burst := known.burst;
    rate := known.rate;
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
        when is_for_answers and known.answers_per_hour = 0 then 'answers'
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
    -- A power failure may lose the last requests of a key from the count: they failed with it.
    perform set_config('synchronous_commit', 'off', true);
    loop
        select u.* into used
        from pgrag.key_usage as u
        where u.key_id = known.key_id
        for no key update;
        exit when found;
        insert into pgrag.key_usage (key_id, full_at)
        values (known.key_id, clock_timestamp())
        on conflict do nothing;
    end loop;
    moment := clock_timestamp();
    -- What lies further ahead than any request puts it was written before the clock was set back.
    used.running := array(
        select r from unnest(used.running) as r where r > moment and r <= moment + interval '1 day'
    );
    full_in := greatest(0, extract(epoch from used.full_at - moment)::double precision);
    if full_in > burst / rate + 1 then
        full_in := 0;
    end if;
    room := burst / rate - full_in;
    -- Within rounding error of a request counts as one: sums of intervals are not exact.
    remaining := greatest(0, floor(room * rate + 1e-6)::integer);
    if remaining = 0 then
        refusal := 'rate';
        retry_after := 1 / rate - room;
        return;
    elsif cardinality(used.running) >= known.concurrency then
        refusal := 'concurrency';
        retry_after := 1;
        return;
    end if;
    if is_for_answers then
        if (moment - used.answers_since between interval '0' and interval '1 hour') is not true then
            used.answers := 0;
            used.answers_since := moment;
        end if;
        if used.answers >= known.answers_per_hour then
            refusal := 'answers';
            retry_after := extract(epoch from used.answers_since + interval '1 hour' - moment);
            return;
        end if;
        used.answers := used.answers + 1;
    end if;
    lease := moment + lasts;
    remaining := remaining - 1;
    full_in := full_in + 1 / rate;
    update pgrag.key_usage as u
    set full_at = moment + make_interval(secs => admit.full_in),
        running = used.running || admit.lease,
        answers = used.answers,
        answers_since = used.answers_since
    where u.key_id = known.key_id;
    update pgrag.keys as k
    set last_used_at = now()
    where k.key_id = known.key_id
        and (
            k.last_used_at is null
            or k.last_used_at < now() - interval '1 minute'
            or k.last_used_at > now()
        );
end;
$$;
