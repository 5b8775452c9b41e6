create or replace function pgrag.remove_library(
    library text
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := _pgrag.library_id(remove_library.library);
    removed bigint;
begin
    perform _pgrag.lock_out_indexing(remove_library.library, null);
    perform l.library_id from pgrag.libraries as l where l.library_id = owner_id for update;
    perform _pgrag.cancel_jobs(array_agg(j.job_id))
    from pgrag.libraries as l
    join pgrag.jobs as j on j.library = l.name
    where l.library_id = owner_id;
    delete from pgrag.crawls as c
    using pgrag.libraries as l
    where l.library_id = owner_id and c.library = l.name;
    delete from pgrag.lexeme_statistics as s where s.library_id = owner_id;
    delete from pgrag.corpus_statistics as c where c.library_id = owner_id;
    delete from pgrag.embeddings as e where e.library_id = owner_id;
    delete from pgrag.documents as d where d.library_id = owner_id;
    delete from pgrag.pages as p where p.library_id = owner_id;
    get diagnostics removed = row_count;
    perform _pgrag.unwatch_table(owner_id);
    delete from pgrag.versions as v where v.library_id = owner_id;
    delete from pgrag.libraries as l where l.library_id = owner_id;
    if _pgrag.owns_vectors() then
        -- An index in use stays, empty; pgrag doctor reports it.
        perform _pgrag.drop_own_vector_indexes(owner_id);
    end if;
    return removed;
end;
$$;

comment on function pgrag.remove_library is
'Removes a library with all its versions, cancels its jobs, and drops the triggers by which it
follows a table (see index_table); returns the number of pages. Errors: PGR02; 55006 while a run of
pgrag index writes one of them or another session removes the library.';
