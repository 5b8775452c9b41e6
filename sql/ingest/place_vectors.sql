-- With its own index a library is searched as fast as if it were alone, and new vectors enter a
-- small graph. It moves back only at half of the limit, so that no library moves to and fro.
create or replace function pgrag.place_vectors(
    library text,
    expected integer default 0
)
returns boolean
language plpgsql
volatile
set search_path from current
as $$
declare
    owner constant pgrag.libraries := _pgrag.lock_library(place_vectors.library);
    exact_limit constant integer := _pgrag.default_settings() ->> 'exact_limit';
    passages bigint;
    is_large boolean;
begin
    perform _pgrag.check_range('expected', place_vectors.expected, 0, 1000000000);
    select coalesce(sum(v.document_count), 0) + place_vectors.expected
    into passages
    from pgrag.versions as v
    where v.library_id = owner.library_id;
    is_large := case when owner.own_vector_index then 2 else 1 end * passages > exact_limit;
    if is_large = owner.own_vector_index
        or not _pgrag.owns_vectors()
        -- First, else each vector would be inserted into two graphs.
        or not is_large and not _pgrag.drop_own_vector_indexes(owner.library_id)
    then
        return owner.own_vector_index;
    end if;
    -- Waits for store_embeddings, whose rows are not seen yet, and keeps it out.
    perform from pgrag.libraries as l where l.library_id = owner.library_id for update;
    update pgrag.libraries as l
    set own_vector_index = is_large
    where l.library_id = owner.library_id;
    update pgrag.embeddings as e
    set own_index = is_large
    where e.library_id = owner.library_id and e.own_index <> is_large;
    return is_large;
end;
$$;

comment on function pgrag.place_vectors is
'Decides whether the vectors of a library have HNSW indexes of their own, one for each model, or are
in the indexes that libraries share, and moves them: more than 20,000 passages (exact_limit) do,
half as many or fewer do not, and between the two everything stays as it is. expected: passages that
are about to be stored besides. Returns whether they have their own. Own indexes are made by the
statements of vector_index_state, and dropped here; while there is none, searches scan the vectors.
Moves nothing unless the caller owns the table, and nothing back while a run has put off an index of
the library or the table is in use for more than 100 ms. Errors: PGR01, PGR02.';

-- Drops what the library has of its own, unless a run has put off one of its indexes or other
-- sessions keep the table; returns whether nothing is left.
create or replace function _pgrag.drop_own_vector_indexes(
    library_id bigint
)
returns boolean
language plpgsql
volatile
set lock_timeout = '100ms'
as $$
declare
    model_name text;
    index_name text;
begin
    for model_name in select m.name from pgrag.embedding_models as m loop
        if not pg_try_advisory_xact_lock(
            hashtextextended(_pgrag.vector_index_lock(model_name, library_id), 0)
        ) then
            return false;
        end if;
    end loop;
    for index_name in
        select c.relname
        from pg_class as c
        where c.relnamespace = 'pgrag'::regnamespace
            and c.relname ~ format('^embeddings_hnsw_\d+_%s$', library_id)
    loop
        execute format('drop index pgrag.%I', index_name);
    end loop;
    return true;
exception
    when lock_not_available then
        return false;
end;
$$;
