-- An index of its own finds the vectors of a library as fast as if it were alone, and a vector that
-- is stored is inserted into a graph of this library only. Half of the limit, so that a library of
-- about that size does not move to and fro.
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
    exact_limit constant integer := pgrag.default_settings() ->> 'exact_limit';
    passages bigint;
    is_large boolean;
begin
    perform _pgrag.check_range('expected', place_vectors.expected, 0, 1000000000);
    select coalesce(sum(v.document_count), 0) + place_vectors.expected
    into passages
    from pgrag.versions as v
    where v.library_id = owner.library_id;
    is_large := case
        when owner.own_vector_index then 2 * passages > exact_limit
        else passages > exact_limit
    end;
    if is_large = owner.own_vector_index or not _pgrag.owns_vectors() then
        return owner.own_vector_index;
    end if;
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
are about to be stored besides. Returns whether they have their own. The indexes themselves are made
and dropped by the statements of vector_index_state; until then searches scan the vectors. Moves
nothing unless the caller owns the table. Errors: PGR01, PGR02.';

-- Only the owner of the table makes and drops its indexes.
create or replace function _pgrag.owns_vectors()
returns boolean
language sql
stable
parallel safe
as $$
    select pg_has_role(c.relowner, 'usage')
    from pg_class as c
    where c.oid = 'pgrag.embeddings'::regclass;
$$;
