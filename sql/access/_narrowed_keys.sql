-- The index of impacts, for callers whom row-level security restricts: a barrier, as documents_with
-- explains, because "&&" is not leakproof either. It is asked for two sets of keys, of which only
-- those of versions remain that the caller may see; without a second set, for the first one twice.
create or replace function _pgrag.narrowed_keys(
    out keys bigint[],
    out keys_beside bigint[]
)
returns record
language plpgsql
stable
parallel safe
as $$
declare
    beside text := nullif(current_setting('pgrag.keys_beside', true), '');
begin
    -- One statement, because each one that reads a table asks for the caller's grants.
    select
        array_agg(k.key) filter (where not k.is_beside),
        array_agg(k.key) filter (where k.is_beside)
    into keys, keys_beside
    from (
        select a.key, false as is_beside
        from unnest(
            nullif(current_setting('pgrag.narrowing_keys', true), '')::bigint[]
        ) as a (key)
        union all
        select b.key, true
        from unnest(beside::bigint[]) as b (key)
    ) as k
    where k.key >> 30 in (select v.version_id from pgrag.versions as v);
    if beside is null then
        keys_beside := keys;
    end if;
end;
$$;

-- Documents with one of the keys in pgrag.narrowing_keys and, if it is set, with one of those in
-- pgrag.keys_beside. Only columns that searches need: a barrier copies every row.
create or replace view _pgrag.matching_impacts with (security_barrier) as
select
    i.library_id,
    i.document_id,
    i.version_id,
    i.page_id,
    i.sort_order,
    i.covers,
    i.text_hash,
    i.weights
from _pgrag.narrowed_keys() as n
join pgrag.impacts as i
    on _pgrag.posting_keys(i.version_id, i.weights) && n.keys
    and _pgrag.posting_keys(i.version_id, i.weights) && n.keys_beside;
