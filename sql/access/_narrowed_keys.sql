-- The index of impacts, for callers whom row-level security restricts: a barrier, as documents_with
-- explains, because "&&" is not leakproof either. Of these keys it is asked for those of versions
-- that the caller may see.
create or replace function _pgrag.narrowed_keys(
    keys text
)
returns bigint[]
language plpgsql
stable
parallel safe
as $$
begin
    return array(
        select k.key
        from unnest(nullif(keys, '')::bigint[]) as k (key)
        where k.key >> 30 in (select v.version_id from pgrag.versions as v)
    );
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
from pgrag.impacts as i
where _pgrag.posting_keys(i.version_id, i.weights) && (
        select _pgrag.narrowed_keys(current_setting('pgrag.narrowing_keys', true))
    )
    and _pgrag.posting_keys(i.version_id, i.weights) && (
        select _pgrag.narrowed_keys(coalesce(
            nullif(current_setting('pgrag.keys_beside', true), ''),
            current_setting('pgrag.narrowing_keys', true)
        ))
    );
