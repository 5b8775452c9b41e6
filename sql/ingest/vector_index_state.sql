-- "create index concurrently" cannot run in a function: this function returns the statement.
create or replace function pgrag.vector_index_state(
    model text
)
returns table (
    valid boolean,
    put_off boolean,
    may_build boolean,
    memory text,
    create_statement text,
    drop_statement text
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    used pgrag.embedding_models;
    index_name text;
    is_valid boolean;
begin
    perform _pgrag.check_given('model', vector_index_state.model);
    select m.*
    into used
    from pgrag.embedding_models as m
    where m.model_id = _pgrag.model_id(vector_index_state.model);
    index_name := format('pgrag.embeddings_hnsw_%s', used.model_id);
    select i.indisvalid
    into is_valid
    from pg_index as i
    where i.indexrelid = to_regclass(index_name);
    return query
    select
        is_valid,
        case
            when is_valid then false
            else exists (
                select
                from pg_locks as k
                join pg_database as d on d.oid = k.database and d.datname = current_database()
                where k.locktype = 'advisory'
                    and k.granted
                    and (k.classid::bigint << 32) | k.objid::bigint
                        = hashtextextended('pgrag vector index ' || used.name, 0)
            )
        end,
        pg_has_role(t.relowner, 'usage'),
        -- Beside its numbers a vector takes 750 bytes in a build, and 80 as a row. A parallel
        -- build reserves all of its memory at once.
        least(
            greatest(
                64 * 1024,
                1.2 * pg_relation_size(t.oid) / 1024
                    * (2 * used.dimensions + 750) / (2 * used.dimensions + 80)
            ),
            greatest(
                512 * 1024,
                pg_size_bytes(current_setting('maintenance_work_mem')) / 1024
            )
        )::bigint || 'kB',
        'create index concurrently ' || _pgrag.vector_index(used),
        'drop index concurrently if exists ' || index_name
    from pg_class as t
    where t.oid = 'pgrag.embeddings'::regclass;
end;
$$;

comment on function pgrag.vector_index_state is
'The state of the HNSW index of a model. valid: whether searches can use it, null if it is missing,
false if its build has not finished. put_off: whether it is not valid because a run stores many
vectors, or builds it, right now. may_build: whether the caller owns the table. The statements that
create and drop the index are to be run outside a transaction, the first with memory as
maintenance_work_mem. Errors: PGR01, PGR09.';
