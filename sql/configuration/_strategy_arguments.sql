-- The arguments that an intent or a query type may set, besides the columns of their tables.
create or replace function _pgrag.strategy_arguments()
returns text[]
language sql
immutable
parallel safe
as $$
    select '{
        min_score, min_confidence, max_per_page, page_decay, mmr_lambda, query_expansion, graph,
        score_share,
        expand, expansion_threshold, expansion_share, max_documents_to_expand,
        max_chunks_per_document, parents, inject_count
    }'::text[];
$$;

-- The arguments in force: those of the caller, else of the strategy, else the defaults.
create or replace function _pgrag.arguments_in_force(
    stated jsonb,
    strategy jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select jsonb_object_agg(r.key, r.value -> 'default')
        || coalesce(strategy -> 'arguments', '{}')
        || jsonb_strip_nulls(stated)
    from jsonb_each(_pgrag.argument_rules() -> 'arguments') as r
    where r.value ? 'default';
$$;
