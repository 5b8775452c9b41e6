-- A vector belongs to a text: every passage of the library with that text gets the vector, in all
-- versions. The text of an edge is not stored; its vector is stored with the hash of the text, so a
-- changed title makes the edge pending again.
create or replace function pgrag.store_embeddings(
    library text,
    model text,
    text_hashes uuid[],
    vectors halfvec[],
    edge_ids bigint[] default null
)
returns integer
language plpgsql
volatile
set search_path from current
-- One index probe per edge, whatever size of the arrays the planner assumes.
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
    -- The vectors of a batch are stored while the next is written; edges have no lock of their own.
    owner constant pgrag.libraries := _pgrag.lock_library(
        store_embeddings.library, is_shared => store_embeddings.edge_ids is null
    );
    stored integer;
    used pgrag.embedding_models := _pgrag.model_for(
        store_embeddings.model, store_embeddings.vectors
    );
begin
    if store_embeddings.edge_ids is null then
        insert into pgrag.embeddings (
            library_id, document_id, model_id, version_id, page_id, covers, own_index, embedding
        )
        select
            d.library_id, d.document_id, used.model_id, d.version_id, d.page_id, d.covers,
            owner.own_vector_index, l2_normalize(incoming.embedding)
        from unnest(store_embeddings.text_hashes, store_embeddings.vectors)
            as incoming (text_hash, embedding)
        -- "offset 0": one index probe per text, never a scan of all texts per passage. A passage
        -- that a writer changes or deletes right now is left out: what becomes of it is pending.
        cross join lateral (
            select d.*
            from pgrag.documents as d
            where d.library_id = owner.library_id
                and d.text_hash = incoming.text_hash
                and d.covers > 0
            for share of d skip locked
            offset 0
        ) as d
        where incoming.embedding is not null
        order by d.version_id, d.page_id, d.sort_order
        on conflict (library_id, document_id, model_id) do nothing;
    else
        insert into pgrag.edge_embeddings as old (
            library_id, edge_id, model_id, version_id, text_hash, embedding
        )
        -- Of an edge that is given twice, one of the vectors is stored.
        select distinct on (e.edge_id)
            e.library_id, e.edge_id, used.model_id, e.version_id, incoming.text_hash,
            l2_normalize(incoming.embedding)
        from unnest(
            store_embeddings.edge_ids, store_embeddings.text_hashes, store_embeddings.vectors
        ) as incoming (edge_id, text_hash, embedding)
        join pgrag.edges as e on e.library_id = owner.library_id and e.edge_id = incoming.edge_id
        where incoming.text_hash is not null and incoming.embedding is not null
        order by e.edge_id
        on conflict on constraint edge_embeddings_pkey do update
        set text_hash = excluded.text_hash, embedding = excluded.embedding;
    end if;
    get diagnostics stored = row_count;
    return stored;
end;
$$;

comment on function pgrag.store_embeddings is
'Stores vectors of a model, scaled to length 1, for every passage of a library whose text has one of
the hashes. With edge_ids, the vectors are stored for edges instead (see pending_embeddings): edge,
hash and vector at the same index belong together; edges that no longer exist are skipped. Returns
the number of vectors stored. Errors: PGR02, PGR09, PGR08 for a wrong dimension.';

-- Passages without a vector reuse one of the same text in the library, for every model, from the
-- newest passage: a vector pooled from a whole page is then most likely from the same page text.
-- It is looked up once per text, because a page may repeat a text many times. "offset 0" forces
-- lookups by key; the other joins must not be nested loops.
create or replace function _pgrag.hand_on_embeddings(
    library_id bigint,
    document_ids bigint[]
)
returns void
language sql
volatile
set enable_nestloop = off
set jit = off
as $$
    with heirs as materialized (
        select d.library_id, d.document_id, d.version_id, d.page_id, d.covers, d.text_hash
        from pgrag.documents as d
        where d.library_id = hand_on_embeddings.library_id
            and d.document_id = any (hand_on_embeddings.document_ids)
            and d.covers > 0
    ),
    vectors as materialized (
        select h.text_hash, e.model_id, e.embedding, e.page_hash
        from (select distinct h.text_hash from heirs as h) as h
        cross join lateral (
            select distinct on (e.model_id) e.model_id, e.embedding, e.page_hash
            from pgrag.documents as d
            cross join lateral (
                select e.*
                from pgrag.embeddings as e
                where e.library_id = d.library_id and e.document_id = d.document_id
                offset 0
            ) as e
            where d.library_id = hand_on_embeddings.library_id
                and d.text_hash = h.text_hash
                and d.covers > 0
            order by e.model_id, e.document_id desc
            offset 0
        ) as e
    )
    insert into pgrag.embeddings (
        library_id, document_id, model_id, version_id, page_id, covers, own_index, embedding,
        page_hash
    )
    select
        h.library_id, h.document_id, v.model_id, h.version_id, h.page_id, h.covers,
        (
            select l.own_vector_index
            from pgrag.libraries as l
            where l.library_id = hand_on_embeddings.library_id
        ),
        v.embedding, v.page_hash
    from heirs as h
    join vectors as v on v.text_hash = h.text_hash
    order by h.document_id, v.model_id
    on conflict (library_id, document_id, model_id) do nothing;
$$;
