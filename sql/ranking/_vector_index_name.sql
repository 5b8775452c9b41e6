-- The name of the HNSW index of a model, for one library or for all without an index of their own.
create or replace function _pgrag.vector_index_name(
    model_id bigint,
    library_id bigint default null
)
returns text
language sql
immutable
parallel safe
as $$
    select 'embeddings_hnsw_' || vector_index_name.model_id
        || coalesce('_' || vector_index_name.library_id, '');
$$;
