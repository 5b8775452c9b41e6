-- The model that vectors are to be stored for, if they have its dimensions: padded or cut, they
-- would be found, but wrongly.
create or replace function pgrag._model_for(
    model text,
    vectors halfvec[]
)
returns pgrag.embedding_models
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    wanted_model pgrag.embedding_models;
    wrong_dimensions integer;
begin
    select m.*
    into wanted_model
    from pgrag.embedding_models as m
    where m.model_id = pgrag._model_id(_model_for.model);

    select vector_dims(v)
    into wrong_dimensions
    from unnest(_model_for.vectors) as v
    where vector_dims(v) <> wanted_model.dimensions
    limit 1;
    if found then
        raise exception 'Model % has % dimensions, got a vector of %.',
            quote_literal(wanted_model.name), wanted_model.dimensions, wrong_dimensions
            using errcode = 'PGR08', hint = 'Register the model with the dimensions it has.';
    end if;
    return wanted_model;
end;
$$;
