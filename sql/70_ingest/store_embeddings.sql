-- A vector belongs to a text: every document of the library with that text gets it, in whatever
-- version it stands.
create or replace function pgrag.store_embeddings(
    library text,
    model text,
    text_hashes uuid[],
    vectors halfvec[]
)
returns integer
language plpgsql
volatile
set search_path from current
-- One probe of the index for each text, however the planner estimates an array.
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
    owner_id bigint := pgrag._library_id(store_embeddings.library);
    stored integer;
    wanted_model pgrag.embedding_models := pgrag._model_for(
        store_embeddings.model, store_embeddings.vectors
    );
begin
    -- With the other writers of the library in turn: a document that gets another text, or goes,
    -- while this looks at it would get a vector that is not its own, or fail the whole call.
    perform l.library_id
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;
    insert into pgrag.embeddings (
        library_id, document_id, model_id, version_id, page_id, covers, embedding
    )
    select
        d.library_id,
        d.document_id,
        wanted_model.model_id,
        d.version_id,
        d.page_id,
        d.covers,
        l2_normalize(incoming.embedding)
    from unnest(store_embeddings.text_hashes, store_embeddings.vectors)
        as incoming (text_hash, embedding)
    join pgrag.documents as d
        on d.library_id = owner_id
        and d.text_hash = incoming.text_hash
        and d.covers > 0
    order by d.version_id, d.page_id, d.sort_order
    on conflict (library_id, document_id, model_id) do nothing;
    get diagnostics stored = row_count;
    return stored;
end;
$$;

comment on function pgrag.store_embeddings(text, text, uuid[], halfvec[]) is
'Gives every document of a library whose text has one of the hashes its vector by a model, scaled
to length 1; returns the number of documents that got one. Errors: PGR02, PGR09, PGR08 for a vector
of another dimension than the model''s.';

-- Documents whose text has a vector in the library already take it over, for every model, from the
-- youngest: of vectors pooled from whole pages, its page is most likely the same.
create or replace function pgrag._hand_on_embeddings(
    library_id bigint,
    document_ids bigint[]
)
returns void
language sql
volatile
set search_path from current
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
    with outdated as (
        delete from pgrag.embeddings as e
        where e.library_id = _hand_on_embeddings.library_id
            and e.document_id = any (_hand_on_embeddings.document_ids)
    )
    select;

    insert into pgrag.embeddings (
        library_id, document_id, model_id, version_id, page_id, covers, embedding, page_hash
    )
    select distinct on (d.document_id, e.model_id)
        d.library_id, d.document_id, e.model_id, d.version_id, d.page_id, d.covers, e.embedding,
        e.page_hash
    from pgrag.documents as d
    join pgrag.documents as twin
        on twin.library_id = d.library_id
        and twin.text_hash = d.text_hash
        and twin.document_id <> d.document_id
    join pgrag.embeddings as e
        on e.library_id = twin.library_id and e.document_id = twin.document_id
    where d.library_id = _hand_on_embeddings.library_id
        and d.document_id = any (_hand_on_embeddings.document_ids)
        and d.covers > 0
    order by d.document_id, e.model_id, e.document_id desc;
$$;
