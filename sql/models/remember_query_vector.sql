create or replace function pgrag.remember_query_vector(
    query text,
    model text,
    query_embedding halfvec,
    capacity integer default 10000
)
returns void
language plpgsql
volatile
set search_path from current
-- Forces the index for the oldest vectors, whatever table size the planner estimates.
set enable_seqscan = off
set jit = off
as $$
declare
    used pgrag.embedding_models;
begin
    perform _pgrag.check_range('capacity', capacity, 1, 1000000000);
    perform _pgrag.check_given('query', query);
    perform _pgrag.check_given('model', model);
    perform _pgrag.check_given('query_embedding', query_embedding);
    select m.* into used from pgrag.embedding_models as m where m.model_id = _pgrag.model_id(model);
    if vector_dims(query_embedding) <> used.dimensions then
        raise exception 'Model % has % dimensions, query_embedding has %.',
            quote_literal(used.name), used.dimensions, vector_dims(query_embedding)
            using errcode = 'PGR08', hint = 'Embed the query with this model.';
    end if;
    insert into pgrag.query_vectors as q (model_id, query_hash, caller, embedding, used_at)
    values (
        used.model_id, _pgrag.query_hash(used, _pgrag.searched_words(query)), _pgrag.caller(),
        l2_normalize(query_embedding),
        -- Not now(): the vectors of one transaction need an order.
        clock_timestamp()
    )
    on conflict (model_id, query_hash, caller) do update
    set embedding = excluded.embedding, used_at = excluded.used_at;
    -- Skips rows locked by other sessions, so this call neither waits nor deadlocks; the next call
    -- deletes them.
    delete from pgrag.query_vectors as q
    where q.model_id = used.model_id
        and q.ctid = any (
            array(
                select old.ctid
                from pgrag.query_vectors as old
                where old.model_id = used.model_id
                    and (old.used_at, old.query_hash) <= (
                        select kept.used_at, kept.query_hash
                        from pgrag.query_vectors as kept
                        where kept.model_id = used.model_id
                        order by kept.used_at desc, kept.query_hash desc
                        offset remember_query_vector.capacity
                        limit 1
                    )
                for update skip locked
            )
        );
end;
$$;

comment on function pgrag.remember_query_vector is
'Caches the vector of a query by a model outside the database, so that psql can run the same query
as a semantic search. It is kept in the name of the caller, and found by this caller and by
administrators. The cache keeps the capacity most recently used vectors per model; a recorded search
counts as use. Errors: PGR01, PGR08 dimension, PGR09.';
