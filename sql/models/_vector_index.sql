-- The HNSW index of a model, as it follows "create index": of one library, or that of all libraries
-- without an index of their own. The caller's search_path may lack the schema of pgvector. Its
-- defaults (m = 16, ef_construction = 64) make a denser graph, which takes longer to search and
-- finds no more.
create or replace function _pgrag.vector_index(
    used pgrag.embedding_models,
    library_id bigint default null
)
returns text
language sql
stable
parallel safe
as $$
    select format(
        '%s on pgrag.embeddings'
        ' using hnsw ((embedding::%3$I.halfvec(%2$s)) %3$I.halfvec_ip_ops)'
        ' with (m = 10, ef_construction = 100) where model_id = %4$s and %5$s',
        _pgrag.vector_index_name((used).model_id, vector_index.library_id),
        (used).dimensions,
        n.nspname,
        (used).model_id,
        coalesce('library_id = ' || vector_index.library_id, 'not own_index')
    )
    from pg_extension as e
    join pg_namespace as n on n.oid = e.extnamespace
    where e.extname = 'vector';
$$;
