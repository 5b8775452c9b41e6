-- Vectors of edges, each with the hash of the text that it is of: a title that changes makes the
-- edge pending again.
create or replace function pgrag.store_edge_embeddings(
    library text,
    model text,
    edge_ids bigint[],
    text_hashes uuid[],
    vectors halfvec[]
)
returns integer
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(store_edge_embeddings.library);
    stored integer;
    wanted_model pgrag.embedding_models := pgrag._model_for(
        store_edge_embeddings.model, store_edge_embeddings.vectors
    );
begin
    -- With the other writers of the library in turn, who may just take an edge away.
    perform l.library_id
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;
    insert into pgrag.edge_embeddings as old (
        library_id, edge_id, model_id, version_id, text_hash, embedding
    )
    select
        e.library_id, e.edge_id, wanted_model.model_id, e.version_id, incoming.text_hash,
        l2_normalize(incoming.embedding)
    from unnest(
        store_edge_embeddings.edge_ids,
        store_edge_embeddings.text_hashes,
        store_edge_embeddings.vectors
    ) as incoming (edge_id, text_hash, embedding)
    join pgrag.edges as e on e.library_id = owner_id and e.edge_id = incoming.edge_id
    where incoming.text_hash is not null and incoming.embedding is not null
    order by e.edge_id
    on conflict on constraint edge_embeddings_pkey do update
    set text_hash = excluded.text_hash, embedding = excluded.embedding;
    get diagnostics stored = row_count;
    return stored;
end;
$$;

comment on function pgrag.store_edge_embeddings(text, text, bigint[], uuid[], halfvec[]) is
'Gives edges of a library their vectors by a model, scaled to length 1, with the hash of the text
that each is of (see pending_edge_embeddings): edge, hash and vector by place. Edges that are gone
are passed over. Returns the number of edges that got a vector. Errors: PGR02, PGR09, PGR08 for a
vector of another dimension than the model''s.';
