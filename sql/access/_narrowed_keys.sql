-- The index of impacts, for callers whom row-level security restricts: a barrier, as documents_with
-- explains, because "&&" is not leakproof either. Keys without a version, or with one that the
-- caller may not see, find nothing.
create or replace function _pgrag.narrowed_keys()
returns bigint[]
language plpgsql
stable
parallel safe
as $$
begin
    return _pgrag.visible_keys(current_setting('pgrag.narrowing_keys', true));
end;
$$;

-- Of these keys those of visible libraries: the caller sees no other versions.
create or replace function _pgrag.visible_keys(
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

-- The same, of documents that have one of some other lexemes, too.
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
        && (select _pgrag.visible_keys(current_setting('pgrag.keys_beside', true)));
