-- The index of impacts, for callers whom row-level security restricts: a barrier, as documents_with
-- explains, because "&&" is not leakproof either. Keys without a version, or with one that the
-- caller may not see, find nothing.
create or replace function _pgrag.narrowed_keys()
returns bigint[]
language plpgsql
stable
parallel safe
as $$
declare
    keys bigint[] := nullif(current_setting('pgrag.narrowing_keys', true), '')::bigint[];
begin
    -- Of the versions the caller sees those of visible libraries.
    return array(
        select k.key
        from unnest(keys) as k (key)
        where k.key >> 30 in (select v.version_id from pgrag.versions as v)
    );
end;
$$;

-- Only columns that searches need: a barrier makes a row of its own of every row.
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
where _pgrag.posting_keys(i.version_id, i.weights) && (select _pgrag.narrowed_keys());

-- The same, of documents that have one of some other lexemes, too. Those need no check: they only
-- narrow.
create or replace view _pgrag.impacts_matching_both with (security_barrier) as
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
where _pgrag.posting_keys(i.version_id, i.weights) && (select _pgrag.narrowed_keys())
    and _pgrag.posting_keys(i.version_id, i.weights)
        && (select nullif(current_setting('pgrag.keys_beside', true), '')::bigint[]);
