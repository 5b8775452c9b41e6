-- What was pooled from a page goes to every page that still has its text.
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
    owner_id bigint := pgrag._library_id(store_page_embeddings.library);
    stored integer;
    wanted_model pgrag.embedding_models := pgrag._model_for(
        store_page_embeddings.model, store_page_embeddings.vectors
    );
    other integer;
begin
    -- With the other writers of the library in turn, as in pgrag.store_embeddings.
    perform l.library_id
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;

    select cardinality(t.document_ids)
    into other
    from pgrag._page_texts(owner_id, coalesce(store_page_embeddings.page_ids, '{}')) as t
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
        library_id, document_id, model_id, version_id, page_id, covers, embedding, page_hash
    )
    select
        d.library_id,
        d.document_id,
        wanted_model.model_id,
        d.version_id,
        d.page_id,
        d.covers,
        l2_normalize(pooled.embedding),
        t.page_hash
    from pgrag._page_texts(owner_id, coalesce(store_page_embeddings.page_ids, '{}')) as t
    cross join lateral unnest(t.document_ids, store_page_embeddings.vectors)
        as pooled (document_id, embedding)
    join pgrag.documents as d
        on d.library_id = owner_id and d.document_id = pooled.document_id
    where t.page_hash = store_page_embeddings.page_hash and pooled.embedding is not null
    on conflict (library_id, document_id, model_id) do update
    set embedding = excluded.embedding, page_hash = excluded.page_hash
    where stored_before.page_hash is distinct from excluded.page_hash;
    get diagnostics stored = row_count;
    return stored;
end;
$$;

comment on function pgrag.store_page_embeddings(text, text, uuid, bigint[], halfvec[]) is
'Gives the documents of these pages their vectors by a model, one for each text of pgrag.page_texts
in its order (null: none), scaled to length 1; pages whose text no longer has this hash are left.
Returns the number of documents that got one. Errors: PGR01 for another number of vectors, PGR02,
PGR09, PGR08 for a vector of another dimension than the model''s.';
