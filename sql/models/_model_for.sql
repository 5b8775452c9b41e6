-- The model of vectors to be stored. Refuses vectors of other dimensions: padded or cut vectors
-- would be found, but with wrong similarities.
create or replace function _pgrag.model_for(
    model text,
    vectors halfvec[]
)
returns pgrag.embedding_models
language plpgsql
stable
parallel safe
as $$
declare
    wanted_model pgrag.embedding_models;
    wrong_dimensions integer;
begin
    perform _pgrag.check_given('model', model_for.model);
    select m.*
    into wanted_model
    from pgrag.embedding_models as m
    where m.model_id = _pgrag.model_id(model_for.model);

    select vector_dims(v)
    into wrong_dimensions
    from unnest(model_for.vectors) as v
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
