-- "create index concurrently" cannot run in a function: this function returns the statement.
create or replace function pgrag.vector_index_state(
    model text
)
returns table (
    wanted boolean,
    valid boolean,
    create_statement text,
    drop_statement text
)
language plpgsql
stable
set search_path from current
as $$
declare
    used pgrag.embedding_models;
    index_name text;
begin
    select m.*
    into used
    from pgrag.embedding_models as m
    where m.model_id = _pgrag.model_id(vector_index_state.model);
    index_name := format('embeddings_hnsw_%s', used.model_id);
    return query
    select
        exists (
            select
            from pgrag.embeddings as e
            where e.model_id = used.model_id
            offset (pgrag.default_settings() ->> 'exact_limit')::integer
        ),
        (
            select i.indisvalid
            from pg_index as i
            where i.indexrelid = to_regclass(format('pgrag.%I', index_name))
        ),
        format(
            'create index concurrently %I on pgrag.embeddings '
            'using hnsw ((embedding::halfvec(%s)) halfvec_ip_ops) where model_id = %s',
            index_name, used.dimensions, used.model_id
        ),
        format('drop index concurrently if exists pgrag.%I', index_name);
end;
$$;

comment on function pgrag.vector_index_state is
'Whether the HNSW index of a model is wanted (more vectors than are scanned exactly), whether it is
valid (null if missing, false if left unfinished), and the statements that create and drop it, to be
run outside a transaction. Errors: PGR09.';
