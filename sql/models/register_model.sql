-- The dimension of a model is fixed: never guessed, padded or cut.
create or replace function pgrag.register_model(
    name text,
    dimensions integer,
    provider text default 'openai',
    query_prefix text default '',
    document_prefix text default '',
    alpha double precision default null
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    known pgrag.embedding_models;
begin
    insert into pgrag.embedding_models as m (
        name, provider, dimensions, query_prefix, document_prefix, alpha
    )
    values (
        register_model.name, register_model.provider, register_model.dimensions,
        register_model.query_prefix, register_model.document_prefix, register_model.alpha
    )
    on conflict on constraint embedding_models_name_key do update
    set query_prefix = excluded.query_prefix,
        document_prefix = excluded.document_prefix,
        alpha = coalesce(excluded.alpha, m.alpha)
    where (m.query_prefix, m.document_prefix) <> (excluded.query_prefix, excluded.document_prefix)
        or m.alpha is distinct from coalesce(excluded.alpha, m.alpha);
    select m.* into known from pgrag.embedding_models as m where m.name = register_model.name;
    if known.dimensions <> register_model.dimensions then
        raise exception 'Model % has % dimensions here, not %.',
            quote_literal(register_model.name), known.dimensions, register_model.dimensions
            using errcode = 'PGR08', hint = 'Register the other one under a name of its own.';
    end if;
    return known.model_id;
end;
$$;

comment on function pgrag.register_model is
'Registers an embedding model, or updates its prefixes and default alpha, and returns its id.
provider: openai (an endpoint of that protocol), local (run by pgrag itself) or custom. Errors:
PGR08 if the model is registered with other dimensions.';
