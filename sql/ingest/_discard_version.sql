-- A first run that stores nothing must not leave an empty library, which searches would offer.
create or replace function _pgrag.discard_version(
    library text,
    version text default ''
)
returns boolean
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint;
    discarded pgrag.versions;
begin
    perform _pgrag.require_lease();
    select l.library_id
    into owner_id
    from pgrag.libraries as l
    where l.name = lower(btrim(discard_version.library))
    for update;

    delete from pgrag.versions as v
    where v.library_id = owner_id
        and v.label = lower(btrim(coalesce(discard_version.version, '')))
        and v.status = 'indexing'
        and not exists (
            select from pgrag.pages as p
            where p.library_id = v.library_id and p.version_id = v.version_id
        )
    returning v.* into discarded;

    -- open_version made both in one transaction if the version is the library's first.
    delete from pgrag.libraries as l
    where l.library_id = owner_id
        and l.created_at = discarded.created_at
        and not exists (select from pgrag.versions as v where v.library_id = l.library_id);
    return discarded.version_id is not null;
end;
$$;
