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
    is_new boolean;
begin
    perform _pgrag.check_given('query_prefix', register_model.query_prefix);
    perform _pgrag.check_given('document_prefix', register_model.document_prefix);
    perform _pgrag.check_range('dimensions', register_model.dimensions, 1, 4000);
    perform _pgrag.check_choice(
        'provider', register_model.provider, '{builtin, openai, local, custom}'
    );
    perform _pgrag.check_range('alpha', coalesce(register_model.alpha, 0), 0, 1);
    if coalesce(btrim(register_model.name), '') = '' or length(register_model.name) > 200 then
        raise exception 'A model cannot be called %.',
            quote_nullable(left(register_model.name, 100))
            using errcode = 'PGR01', hint = 'Use 1 to 200 characters.';
    end if;
    is_new := not exists (
        select from pgrag.embedding_models as m where m.name = register_model.name
    );
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
    -- Only the owner of the table may; an indexing run of the owner makes what is missing.
    if is_new and _pgrag.owns_vectors() then
        execute 'create index if not exists ' || _pgrag.vector_index(known);
    end if;
    return known.model_id;
end;
$$;

comment on function pgrag.register_model is
'Registers an embedding model, with the HNSW index of its vectors, or updates its prefixes and
default alpha, and returns its id. provider: openai (an endpoint of that protocol), local (run by
pgrag itself) or custom. Errors: PGR01, PGR08 if the model is registered with other dimensions.';
