-- "create index concurrently" cannot run in a function: this function returns the statement.
create or replace function pgrag.vector_index_state(
    model text,
    library text default null
)
returns table (
    owner text,
    valid boolean,
    put_off boolean,
    may_build boolean,
    lock text,
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
    owner_id constant bigint := _pgrag.vector_index_owner(vector_index_state.library);
    index_name text;
    lock_name text;
    is_valid boolean;
begin
    perform _pgrag.check_given('model', vector_index_state.model);
    select m.*
    into used
    from pgrag.embedding_models as m
    where m.model_id = _pgrag.model_id(vector_index_state.model);
    index_name := _pgrag.vector_index_name(used.model_id, owner_id);
    lock_name := _pgrag.vector_index_lock(used.name, owner_id);
    select i.indisvalid
    into is_valid
    from pg_index as i
    where i.indexrelid = to_regclass('pgrag.' || index_name);
    return query
    select
        (select l.name from pgrag.libraries as l where l.library_id = owner_id),
        is_valid,
        case
            when is_valid then false
            else exists (
                select from pg_locks as k
                join pg_database as d on d.oid = k.database and d.datname = current_database()
                where k.locktype = 'advisory'
                    and k.granted
                    and (k.classid::bigint << 32) | k.objid::bigint
                        = hashtextextended(lock_name, 0)
            )
        end,
        -- The server goes on building for a run that was killed.
        _pgrag.owns_vectors() and not exists (
            select from pg_stat_progress_create_index as p
            where p.datname = current_database()
                and p.index_relid = to_regclass('pgrag.' || index_name)
        ),
        lock_name,
        -- A fifth more than a vector takes in a build: its numbers and 750 bytes. A parallel build
        -- reserves all of its memory at once.
        least(
            greatest(
                64 * 1024,
                1.2 / 1024 * (2 * used.dimensions + 750) * (
                    select sum(v.document_count)
                    from pgrag.libraries as l
                    join pgrag.versions as v on v.library_id = l.library_id
                    where case
                        when owner_id is null then not l.own_vector_index
                        else l.library_id = owner_id
                    end
                )
            ),
            greatest(
                512 * 1024,
                pg_size_bytes(current_setting('maintenance_work_mem')) / 1024
            )
        )::bigint || 'kB',
        'create index concurrently ' || _pgrag.vector_index(used, owner_id),
        'drop index concurrently if exists pgrag.' || index_name;
end;
$$;

comment on function pgrag.vector_index_state is
'The state of an HNSW index of a model: of the one that has the vectors of the library, its own (see
place_vectors) or the one that libraries share; without a library, of the shared one. owner: the
library whose own index it is, null if it is shared. valid: whether searches can use it, null if it
is missing, false if its build has not finished. put_off: whether it is not valid because a run
stores many vectors, or builds it, right now; lock: the advisory lock of that run. may_build:
whether the caller owns the table, and the server is not building the index already. The statements
that create and drop the index are to be run outside a transaction, the first with memory as
maintenance_work_mem. Errors: PGR01, PGR02, PGR09.';
