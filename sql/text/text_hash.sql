-- SHA-256, because servers in FIPS mode refuse md5().
create or replace function pgrag.text_hash(
    input text
)
returns uuid
language sql
immutable
parallel safe
as $$
    select pg_catalog.substr(
        pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(text_hash.input, 'UTF8')), 'hex'),
        1,
        32
    )::uuid;
$$;

comment on function pgrag.text_hash is
'The first 128 bits of the SHA-256 of a text, as a uuid.';
