-- A page is pending while any of its vectors was pooled from an earlier text; pages with equal
-- texts, as in two versions, share a row.
create or replace function pgrag.pending_pages(
    library text,
    model text default null,
    page_ids bigint[] default null
)
returns table (
    page_hash uuid,
    pages bigint[],
    documents integer
)
language plpgsql
stable
set search_path from current
set jit = off
as $$
declare
    owner_id bigint := _pgrag.library_id(pending_pages.library);
    pending_model bigint := coalesce(
        _pgrag.model_id(pending_pages.model),
        (select l.model_id from pgrag.libraries as l where l.library_id = owner_id)
    );
begin
    return query
    with pending as (
        select distinct t.page_id, t.page_hash, cardinality(t.document_ids) as documents
        from _pgrag.page_texts(owner_id, pending_pages.page_ids) as t
        cross join lateral unnest(t.document_ids) as d (document_id)
        -- "offset 0": one index probe per passage, so the cost of a few pages does not depend on
        -- the size of the library.
        left join lateral (
            select e.page_hash
            from pgrag.embeddings as e
            where e.library_id = owner_id
                and e.document_id = d.document_id
                and e.model_id = pending_model
            offset 0
        ) as e on true
        where e.page_hash is distinct from t.page_hash
    )
    select p.page_hash, array_agg(p.page_id order by p.page_id), min(p.documents)
    from pending as p
    group by p.page_hash
    order by min(p.page_id);
end;
$$;

comment on function pgrag.pending_pages is
'The texts of whole pages of a library that a model (the library''s by default) has not embedded
yet: the hash of each text, the pages that have it, and the number of passages on one of these
pages. page_ids: only these pages. For models that embed each passage in the context of its page.
Errors: PGR02, PGR09.';
