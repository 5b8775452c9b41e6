-- The name of the built-in model, and the ids of models by name.
create or replace function _pgrag.builtin_model()
returns text
language sql
immutable
parallel safe
as $$
    select 'static-en-de-ru-256';
$$;

create or replace function _pgrag.model_id(
    model text
)
returns bigint
language plpgsql
stable
parallel safe
as $$
declare
    known_id bigint;
begin
    if model_id.model is null then
        return null;
    end if;
    select m.model_id
    into known_id
    from pgrag.embedding_models as m
    where m.name = model_id.model;
    if known_id is null then
        raise exception 'There is no embedding model %.', quote_literal(model_id.model)
            using errcode = 'PGR09',
                hint = _pgrag.name_hint(
                    model_id.model,
                    array(select m.name from pgrag.embedding_models as m order by m.name),
                    'Registered',
                    'No model is registered yet: run `pgrag db upgrade`.'
                );
    end if;
    return known_id;
end;
$$;
