create or replace function pgrag.keys()
returns table (
    name text,
    kind text,
    role text,
    libraries text[],
    origins text[],
    state text,
    secrets integer,
    rate double precision,
    burst integer,
    concurrency integer,
    timeout_ms integer,
    answers_per_hour integer,
    created_at timestamptz,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
)
language sql
stable
parallel safe
set search_path from current
as $$
    select
        k.name, k.kind, k.role, k.libraries, k.origins,
        case
            when k.revoked_at is not null then 'revoked'
            when k.expires_at <= now() then 'expired'
            else 'valid'
        end,
        (
            select count(*)::integer
            from pgrag.key_secrets as s
            where s.key_id = k.key_id and (s.expires_at is null or s.expires_at > now())
        ),
        k.rate, k.burst, k.concurrency, k.timeout_ms, k.answers_per_hour, k.created_at,
        k.expires_at, k.revoked_at, k.last_used_at
    from pgrag.keys as k
    order by k.name;
$$;

comment on function pgrag.keys is
'The keys by name, without their secrets. state: valid, expired or revoked. secrets: how many are
valid, two after a rotation. last_used_at is exact to a minute.';
