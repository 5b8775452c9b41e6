create or replace function pgrag.store_page_embeddings(
    library text,
    model text,
    page_hash uuid,
    page_ids bigint[],
    vectors halfvec[]
)
returns integer
language plpgsql
volatile
set search_path from current
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
    owner constant pgrag.libraries := _pgrag.lock_library(store_page_embeddings.library);
    stored integer;
    wanted_model pgrag.embedding_models := _pgrag.model_for(
        store_page_embeddings.model, store_page_embeddings.vectors
    );
    other integer;
begin
    select cardinality(t.document_ids)
    into other
    from _pgrag.page_texts(owner.library_id, coalesce(store_page_embeddings.page_ids, '{}')) as t
    where t.page_hash = store_page_embeddings.page_hash
        and cardinality(t.document_ids)
            is distinct from cardinality(store_page_embeddings.vectors)
    limit 1;
    if found then
        raise exception 'The page has % texts, got % vectors.',
            other, coalesce(cardinality(store_page_embeddings.vectors), 0)
            using errcode = 'PGR01',
                hint = 'Give a vector for each text of pgrag.page_texts, null where there is none.';
    end if;

    insert into pgrag.embeddings as stored_before (
        library_id, document_id, model_id, version_id, page_id, covers, own_index, embedding,
        page_hash
    )
    select
        d.library_id, d.document_id, wanted_model.model_id, d.version_id, d.page_id, d.covers,
        owner.own_vector_index, l2_normalize(pooled.embedding), t.page_hash
    from _pgrag.page_texts(owner.library_id, coalesce(store_page_embeddings.page_ids, '{}')) as t
    cross join lateral unnest(t.document_ids, store_page_embeddings.vectors)
        as pooled (document_id, embedding)
    join pgrag.documents as d
        on d.library_id = owner.library_id and d.document_id = pooled.document_id
    where t.page_hash = store_page_embeddings.page_hash and pooled.embedding is not null
    on conflict (library_id, document_id, model_id) do update
    set embedding = excluded.embedding, page_hash = excluded.page_hash
    where stored_before.page_hash is distinct from excluded.page_hash;
    get diagnostics stored = row_count;
    return stored;
end;
$$;

comment on function pgrag.store_page_embeddings is
'Stores the vectors of a model for the passages of these pages, one for each text of
pgrag.page_texts in its order (null for none), scaled to length 1; pages whose text no longer has
this hash are skipped. Returns the number of passages that got a vector. Errors: PGR01 for a wrong
number of vectors, PGR02, PGR09, PGR08 for a wrong dimension.';
