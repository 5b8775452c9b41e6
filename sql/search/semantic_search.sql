create or replace function pgrag.semantic_search(
    query text,
    library text default null,
    top_k integer default 10,
    version text default null,
    filters jsonb default null,
    query_embedding halfvec default null,
    options jsonb default '{}'
)
returns setof pgrag.hit
language plpgsql
stable
parallel unsafe
rows 10
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
begin
    return query
    select h.*
    from _pgrag.search_hits(
        semantic_search.query,
        _pgrag.search_document('semantic_search', options, jsonb_build_object(
            'library', library, 'version', version, 'top_k', top_k, 'filters', filters,
            'mode', 'semantic'
        )),
        query_embedding
    ) as h;
end;
$$;

comment on function pgrag.semantic_search is
'Semantic search: the passages whose vectors are nearest to the query''s by cosine, the vector
retriever of pgrag.search alone, with its columns and errors. score is semantic_score, or that of
the section''s summary where it is higher (levels in pgrag.search); types of pages have no weights
here. The scan is exact if the filters leave few vectors, else the HNSW index is used; either way
the result is as long as the filters allow, up to top_k.';
