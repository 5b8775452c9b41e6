create or replace function pgrag.remove_synonyms(
    library text,
    terms text[] default null
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := (_pgrag.lock_library(remove_synonyms.library)).library_id;
    removed bigint;
begin
    delete from pgrag.synonyms as s
    where s.library_id = owner_id
        and (remove_synonyms.terms is null or s.term = any (remove_synonyms.terms));
    get diagnostics removed = row_count;
    return removed;
end;
$$;

comment on function pgrag.remove_synonyms is
'Removes the synonyms of a library for these terms (default: all) and returns the number of terms
removed. Errors: PGR02.';
