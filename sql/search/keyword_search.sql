create or replace function pgrag.keyword_search(
    query text,
    library text default null,
    top_k integer default 10,
    version text default null,
    filters jsonb default null,
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
        keyword_search.query,
        _pgrag.search_document('keyword_search', options, jsonb_build_object(
            'library', library, 'version', version, 'top_k', top_k, 'filters', filters,
            'mode', 'keyword'
        ))
    ) as h;
end;
$$;

comment on function pgrag.keyword_search is
'Full-text search: the keyword retriever of pgrag.search alone, with its columns and errors. score
is keyword_score, or that of the section''s summary where it is higher (levels in pgrag.search),
times the weight of the page''s type. keyword_score is BM25F over title, path, url and content of
the passage, mixed with the page''s own BM25F and its titles, which have the share page_evidence
(default: the library''s); with page_evidence 0 it is exactly the BM25F of the passage. options:
other arguments of pgrag.search by name, as in {"snippets": true, "page_evidence": 0}; arguments of
the fusion (alpha, fusion, rrf_k …) are refused.';
