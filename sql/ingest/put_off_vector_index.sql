-- Inserting a vector into an HNSW index takes at least four times its share of a build (0.4 to 0.9
-- ms against 0.11 to 0.17 ms), so a run that adds a third rebuilds the index. The lock on the table
-- is awaited only a moment, because other sessions queue behind a waiting one.
create or replace function pgrag.put_off_vector_index(
    model text,
    expected integer,
    stored integer default 0,
    library text default null
)
returns boolean
language plpgsql
volatile
set search_path from current
set lock_timeout = '100ms'
as $$
declare
    used_id constant bigint := _pgrag.model_id(put_off_vector_index.model);
    exact_limit constant integer := _pgrag.default_settings() ->> 'exact_limit';
    owner_id constant bigint := _pgrag.vector_index_owner(put_off_vector_index.library);
    index_name constant text := 'pgrag.' || _pgrag.vector_index_name(used_id, owner_id);
    vectors_before integer;
begin
    perform _pgrag.check_given('model', put_off_vector_index.model);
    perform _pgrag.check_range('expected', put_off_vector_index.expected, 0, 1000000000);
    perform _pgrag.check_range('stored', put_off_vector_index.stored, 0, 1000000000);
    select count(*)
    into vectors_before
    from (
        select from pgrag.libraries as l
        cross join lateral (
            select from pgrag.embeddings as e
            where e.library_id = l.library_id and e.model_id = used_id
            offset 0
        ) as e
        where case
            when owner_id is null then not l.own_vector_index
            else l.library_id = owner_id
        end
        limit exact_limit + put_off_vector_index.stored + 1
    ) as e;
    vectors_before := vectors_before - put_off_vector_index.stored;
    if vectors_before > exact_limit
        or vectors_before > 3::bigint * put_off_vector_index.expected
        or not _pgrag.owns_vectors()
        -- Another session has put off the index, or builds it.
        or not pg_try_advisory_xact_lock(
            hashtextextended(_pgrag.vector_index_lock(put_off_vector_index.model, owner_id), 0)
        )
    then
        return false;
    end if;
    if to_regclass(index_name) is not null then
        execute 'drop index ' || index_name;
    end if;
    return true;
exception
    when lock_not_available then
        return false;
end;
$$;

comment on function pgrag.put_off_vector_index is
'Drops an HNSW index of a model before many vectors are stored, if building it again afterwards (see
vector_index_state) takes less time than inserting them, and if searches scanned the vectors until
now because there were few. library: the index that has its vectors, its own (see place_vectors) or
the shared one; null: the shared one. expected: the number of vectors to store in all, as far as
known; stored: how many of them are stored already. Returns whether the index is gone. It stays if
other sessions keep the table for more than 100 ms or have put off the index themselves, and unless
the caller owns the table. Errors: PGR01, PGR02, PGR09.';

-- The library whose own index has the vectors of a library; null if they are in the shared one.
create or replace function _pgrag.vector_index_owner(
    library text
)
returns bigint
language sql
stable
parallel safe
as $$
    select l.library_id
    from pgrag.libraries as l
    where l.own_vector_index
        and l.library_id = case
            when vector_index_owner.library is not null
            then _pgrag.library_id(vector_index_owner.library)
        end;
$$;

-- The advisory lock of whoever has put off an index.
create or replace function _pgrag.vector_index_lock(
    model text,
    owner_id bigint
)
returns text
language sql
immutable
parallel safe
as $$
    select 'pgrag vector index ' || vector_index_lock.model
        || coalesce(' ' || vector_index_lock.owner_id, '');
$$;
