-- The keys of posting lists by version in the index of impacts: see posting_keys.
create or replace function _pgrag.query_keys(
    version_ids bigint[],
    posting_ids bigint[]
)
returns bigint[]
language plpgsql
immutable
parallel safe
as $$
declare
    version_id bigint;
    posting_id bigint;
    keys bigint[] := '{}';
begin
    -- Loops: for one version, a statement would take longer.
    foreach version_id in array version_ids loop
        foreach posting_id in array posting_ids loop
            keys := array_append(keys, version_id << 31 | posting_id);
        end loop;
    end loop;
    return keys;
end;
$$;

-- The ids in the wanted ones of these lists: lists[n] holds ids[n]. If that holds the strong
-- postings alone, wholes[n] is the list of all of them, which makes the other needless.
create or replace function _pgrag.posting_ids(
    ids bigint[],
    lists integer[],
    wholes integer[],
    wanted integer[]
)
returns bigint[]
language plpgsql
immutable
parallel safe
as $$
declare
    wanted_ids bigint[] := '{}';
begin
    for n in 1..cardinality(ids) loop
        if lists[n] = any (wanted) and (wholes[n] = any (wanted)) is not true then
            wanted_ids := array_append(wanted_ids, ids[n]);
        end if;
    end loop;
    return wanted_ids;
end;
$$;

-- The index of impacts behind a barrier, because "&&" is not leakproof (see documents_with): for
-- callers whom row-level security restricts, and where speed does not matter. Settings name its
-- rows: passages of pgrag.narrowing_versions in a posting list of pgrag.narrowing_lexemes and in
-- one of pgrag.lexemes_beside. Keys name only versions that the caller may see, so no posting
-- of others is read; of an id, which a caller may set, only the bits of a posting list count.
create or replace view _pgrag.matching_impacts with (security_barrier) as
select i.*
from pgrag.versions as v
join pgrag.impacts as i
    -- A difference, so that no other index is used.
    on i.library_id - v.library_id = 0
    and _pgrag.posting_keys(i.version_id, i.weights) && array(
        select v.version_id << 31 | (l.id & ((1::bigint << 31) - 1))
        from unnest(
            nullif(current_setting('pgrag.narrowing_lexemes', true), '')::bigint[]
        ) as l (id)
    )
    and _pgrag.posting_keys(i.version_id, i.weights) && array(
        select v.version_id << 31 | (l.id & ((1::bigint << 31) - 1))
        from unnest(
            nullif(current_setting('pgrag.lexemes_beside', true), '')::bigint[]
        ) as l (id)
    )
where v.version_id = any (
        nullif(current_setting('pgrag.narrowing_versions', true), '')::bigint[]
    )
    and (
        v.library_id = any ((
            select case
                when row_security_active('pgrag.impacts') then _pgrag.visible_libraries()
            end
        )::bigint[])
    ) is not false;

comment on view _pgrag.matching_impacts is
    'Impacts of passages in the posting lists and versions that the settings of a search name.';
