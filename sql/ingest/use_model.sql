create or replace function pgrag.use_model(
    library text,
    model text
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
begin
    update pgrag.libraries as l
    set model_id = _pgrag.model_id(use_model.model)
    where l.library_id = _pgrag.library_id(use_model.library);
    return (select count(*) from pgrag.pending_embeddings(use_model.library, use_model.model));
end;
$$;

comment on function pgrag.use_model is
'Searches of this library use the vectors of this model from now on; vectors of other models stay,
so switching back is just as fast. Returns the number of texts that still lack a vector. Errors:
PGR02, PGR09.';
