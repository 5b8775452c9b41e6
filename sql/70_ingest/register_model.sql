-- A model's dimension is what it is: never guessed, padded or cut.
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
    select m.* into known from pgrag.embedding_models as m where m.name = register_model.name;
    if known.model_id is not null and known.dimensions <> register_model.dimensions then
        raise exception 'Model % has % dimensions here, not %.',
            quote_literal(register_model.name), known.dimensions, register_model.dimensions
            using errcode = 'PGR08', hint = 'Register the other one under a name of its own.';
    end if;
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
    return pgrag._model_id(register_model.name);
end;
$$;

comment on function pgrag.register_model(text, integer, text, text, text, double precision) is
'Makes an embedding model known, or renews its prefixes and its default alpha, and returns its id.
provider: openai (an endpoint of that protocol), local (run by pgrag itself) or custom. Errors:
PGR08 where the model is known with other dimensions.';

create or replace function pgrag.use_model(
    library text,
    model text
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    missing bigint;
begin
    update pgrag.libraries as l
    set model_id = pgrag._model_id(use_model.model)
    where l.library_id = pgrag._library_id(use_model.library);
    select count(*)
    into missing
    from pgrag.pending_embeddings(use_model.library, use_model.model);
    return missing;
end;
$$;

comment on function pgrag.use_model(text, text) is
'Searches of this library use the vectors of this model from now on; those of other models stay, so
that switching back is as quick. Returns the number of texts that still lack a vector. Errors:
PGR02, PGR09.';
