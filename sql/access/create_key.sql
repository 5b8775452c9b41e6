-- A key is for one caller of a service: a program, a person, a web page.
create or replace function pgrag.create_key(
    name text,
    role text,
    libraries text[],
    kind text default 'secret',
    origins text[] default '{}',
    expires_in interval default null,
    rate double precision default 20,
    burst integer default null,
    concurrency integer default 10,
    timeout_ms integer default null,
    answers_per_hour integer default null
)
returns text
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    named constant text := lower(btrim(create_key.name));
    opened constant text[] := array(
        select distinct lower(btrim(l)) from unnest(create_key.libraries) as l order by 1
    );
    pages constant text[] := array(
        select distinct rtrim(lower(btrim(o)), '/') from unnest(create_key.origins) as o order by 1
    );
    unknown text;
    new_id bigint;
begin
    perform _pgrag.check_choice('role', role, '{search, write, admin}');
    perform _pgrag.check_choice('kind', kind, '{secret, publishable}');
    if coalesce(named !~ '^[a-z0-9][a-z0-9._-]{0,99}$', true) then
        raise exception 'A key cannot be named %.', quote_nullable(named)
            using errcode = 'PGR01',
                hint = 'A name has up to 100 letters, digits, dots, dashes and underscores.';
    elsif cardinality(opened) = 0
        or '' = any (opened)
        or array_position(opened, null) is not null
    then
        raise exception 'A key opens at least one library, and each has a name.'
            using errcode = 'PGR01', hint = 'Name them, or pass {*} for all.';
    elsif '*' = any (opened) and opened <> '{*}' then
        raise exception '* stands alone: it means all libraries.'
            using errcode = 'PGR01', hint = 'Pass {*}, or names only.';
    elsif role = 'admin' and opened <> '{*}' then
        raise exception 'A key of role admin opens all libraries.'
            using errcode = 'PGR01', hint = 'Pass {*}, or choose the role write.';
    elsif kind = 'publishable' and role <> 'search' then
        raise exception 'A publishable key may only search, so its role cannot be %.', role
            using errcode = 'PGR01', hint = 'Everybody who opens the page can read the key.';
    elsif kind = 'publishable' and cardinality(pages) = 0 then
        raise exception 'A publishable key needs the origins of its pages.'
            using errcode = 'PGR01', hint = 'They are like https://docs.example.';
    elsif kind = 'secret' and cardinality(pages) > 0 then
        raise exception 'A secret key has no origins: it never belongs in a page.'
            using errcode = 'PGR01', hint = 'Make a publishable key for web pages.';
    elsif exists (
        select from unnest(pages) as o where (o ~ '^https?://[^/\s?#@*]+$') is not true
    ) then
        raise exception 'One of these is not the origin of a page: %.', pages
            using errcode = 'PGR01', hint = 'Origins are like https://docs.example, without path.';
    elsif expires_in <= interval '0' or expires_in > interval '100 years' then
        raise exception 'A key expires within 100 years from now, not in %.', expires_in
            using errcode = 'PGR01', hint = 'Pass null for a key that never expires.';
    end if;
    perform _pgrag.check_range('rate', create_key.rate, 1e-6, 10000);
    perform _pgrag.check_range('burst', coalesce(create_key.burst, 1), 1, 1000000);
    perform _pgrag.check_range('concurrency', create_key.concurrency, 1, 10000);
    perform _pgrag.check_range('timeout_ms', coalesce(create_key.timeout_ms, 100), 100, 86400000);
    perform _pgrag.check_range(
        'answers_per_hour', coalesce(create_key.answers_per_hour, 0), 0, 1000000
    );
    insert into pgrag.keys as k (
        name, kind, role, libraries, origins, rate, burst, concurrency, timeout_ms,
        answers_per_hour, expires_at
    )
    values (
        named, create_key.kind, create_key.role, opened, pages, create_key.rate,
        coalesce(create_key.burst, ceil(2 * create_key.rate)::integer), create_key.concurrency,
        create_key.timeout_ms,
        coalesce(
            create_key.answers_per_hour, case create_key.kind when 'publishable' then 0 end
        ),
        now() + create_key.expires_in
    )
    on conflict (name) do nothing
    returning k.key_id into new_id;
    if new_id is null then
        raise exception 'There is a key %, or there was one that has been revoked.', named
            using errcode = 'PGR01',
                hint = 'Choose another name, or give the key a new secret: `pgrag keys rotate`.';
    end if;
    select string_agg(o, ', ')
    into unknown
    from unnest(opened) as o
    where o <> '*' and not exists (select from pgrag.libraries as l where l.name = o);
    if unknown is not null then
        raise notice 'There is no library % yet; the key opens it once it is there.', unknown;
    end if;
    if opened <> '{*}' and not _pgrag.separates_libraries() then
        raise notice 'Services refuse this key until the database separates libraries: it is'
            ' limited to some of them.';
    end if;
    perform _pgrag.write_audit(
        jsonb_build_object('caller', current_user, 'action', 'create_key ' || named)
    );
    return _pgrag.new_secret(new_id, create_key.kind);
end;
$$;

comment on function pgrag.create_key is
'Makes a key with which a caller uses the services of this database, and returns its secret. The
secret is shown this once: the database keeps its SHA-256 only. It is pgrag_sk_ (publishable:
pgrag_pk_), 64 hexadecimal digits, and the first 8 digits of the SHA-256 of all before them. name:
letters, digits, dot, dash and underscore. role: search (read, search, rate own searches), write
(also change what libraries hold) or admin (also configuration, evaluations, searches of others).
libraries: their names, or {*} for all, which admin needs; a name without a library is allowed, with
a notice. kind: secret, or publishable for web pages, which only searches, from pages of its origins
(https://docs.example). expires_in: null for never. rate: requests a second; burst: requests at once
(default: two seconds of the rate); concurrency: running requests; timeout_ms: the longest statement
(null: as services allow); answers_per_hour: requests for answers of a language model (null: for a
publishable key none, else as many as requests). Limits count over all services of the database.
Errors: PGR01.';

-- The secret of a key: two random UUIDs have 244 random bits, the digits at the end let a scanner
-- tell a secret from any other text.
create or replace function _pgrag.new_secret(
    key_id bigint,
    kind text
)
returns text
language plpgsql
volatile
as $$
declare
    body constant text :=
        case kind when 'publishable' then 'pgrag_pk_' else 'pgrag_sk_' end
        || replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
    secret constant text := body || left(encode(sha256(body::bytea), 'hex'), 8);
begin
    insert into pgrag.key_secrets (hash, key_id)
    values (sha256(secret::bytea), new_secret.key_id);
    return secret;
end;
$$;
