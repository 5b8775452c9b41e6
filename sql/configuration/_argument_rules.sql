-- The arguments of searches as src/pgrag/ground/arguments.py declares them. Written by
-- `make docs`; a test holds it equal to the declaration.
create or replace function _pgrag.argument_rules()
returns jsonb
language sql
immutable
parallel safe
as $$
    select '{
        "arguments": {
            "library": {"type": "string"},
            "version": {"type": "string"},
            "top_k": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10},
            "filters": {"type": "object"},
            "page_evidence": {"type": "number", "minimum": 0, "maximum": 1},
            "query_expansion": {"type": "string", "choices": ["none", "synonyms", "feedback",
                "both"]},
            "prefix": {"type": "boolean", "default": false},
            "model": {"type": "string"},
            "alpha": {"type": "number", "minimum": 0, "maximum": 1},
            "fusion": {"type": "string", "choices": ["absolute", "rrf"], "default": "absolute"},
            "rrf_k": {"type": "integer", "minimum": 0, "maximum": 10000, "default": 60},
            "rrf_weights": {"type": "array", "minimum": 0, "maximum": 1000, "shortest": 2,
                "longest": 2, "default": [1, 1]},
            "candidate_count": {"type": "integer", "minimum": 1, "maximum": 20000, "default": 64},
            "intent": {"type": "string"},
            "dependencies": {"type": "object"},
            "min_score": {"type": "number", "default": 0},
            "min_confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "levels": {"type": "array", "minimum": 0, "maximum": 2, "shortest": 1, "longest": 10},
            "exclude": {"type": "array", "longest": 1000},
            "changed_since": {"type": "string"},
            "hierarchy": {"type": "string", "choices": ["none", "depth", "breadth", "overview"]},
            "mmr_lambda": {"type": "number", "minimum": 0, "maximum": 1},
            "graph": {"type": "boolean"},
            "max_per_page": {"type": "integer", "minimum": 1, "maximum": 1000},
            "page_decay": {"type": "number", "minimum": 0, "maximum": 1},
            "reranked": {"type": "object"},
            "token_budget": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 4000},
            "expand": {"type": "boolean", "default": true},
            "expansion_threshold": {"type": "number"},
            "expansion_share": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.8},
            "max_documents_to_expand": {"type": "integer", "minimum": 0, "maximum": 10000,
                "default": 3},
            "max_chunks_per_document": {"type": "integer", "minimum": 0, "maximum": 10000,
                "default": 20},
            "score_share": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.65},
            "parents": {"type": "boolean", "default": false},
            "inject_types": {"type": "array", "longest": 20},
            "inject_count": {"type": "integer", "minimum": 0, "maximum": 100, "default": 3},
            "template": {"type": "string"},
            "format": {"type": "string", "choices": ["simple", "grouped"], "default": "grouped"},
            "siblings": {"type": "integer", "minimum": 0, "maximum": 10000, "default": 0},
            "overlap": {"type": "boolean", "default": false},
            "value_count": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 20},
            "aggregate": {"type": "string", "choices": ["max", "mean", "rrf"]},
            "after": {"type": "string"},
            "whole": {"type": "boolean", "default": false},
            "snippets": {"type": "boolean", "default": false},
            "mode": {"type": "string", "choices": ["hybrid", "keyword", "semantic"], "default":
                "hybrid"},
            "unit": {"type": "string", "choices": ["document", "page"]},
            "page_hits": {"type": "integer", "minimum": 1, "maximum": 100},
            "history": {"type": "boolean", "default": false},
            "explain": {"type": "boolean", "default": false}
        },
        "functions": {
            "search": [
                "library", "version", "top_k", "filters", "page_evidence", "query_expansion",
                "prefix", "model", "alpha", "fusion", "rrf_k", "rrf_weights", "candidate_count",
                "intent", "dependencies", "min_score", "min_confidence", "levels", "exclude",
                "changed_since", "hierarchy", "mmr_lambda", "graph", "max_per_page", "page_decay",
                "mode", "unit", "aggregate", "page_hits", "after", "snippets", "history", "explain",
                "reranked"
            ],
            "keyword_search": [
                "library", "version", "top_k", "filters", "page_evidence", "query_expansion",
                "prefix", "dependencies", "min_score", "min_confidence", "levels", "exclude",
                "changed_since", "hierarchy", "mmr_lambda", "graph", "max_per_page", "page_decay",
                "mode", "unit", "aggregate", "page_hits", "after", "snippets", "history", "explain",
                "reranked"
            ],
            "semantic_search": [
                "library", "version", "top_k", "filters", "model", "dependencies", "min_score",
                "min_confidence", "levels", "exclude", "changed_since", "hierarchy", "mmr_lambda",
                "graph", "max_per_page", "page_decay", "mode", "unit", "aggregate", "page_hits",
                "after", "snippets", "history", "explain", "reranked"
            ],
            "search_pages": [
                "library", "version", "top_k", "filters", "page_evidence", "query_expansion",
                "prefix", "model", "alpha", "fusion", "rrf_k", "rrf_weights", "candidate_count",
                "intent", "dependencies", "min_score", "min_confidence", "levels", "exclude",
                "changed_since", "hierarchy", "mmr_lambda", "graph", "aggregate", "after", "whole",
                "snippets"
            ],
            "facets": [
                "library", "version", "top_k", "filters", "page_evidence", "query_expansion",
                "prefix", "model", "alpha", "fusion", "rrf_k", "rrf_weights", "candidate_count",
                "intent", "dependencies", "min_score", "min_confidence", "levels", "exclude",
                "changed_since", "hierarchy", "mmr_lambda", "graph", "max_per_page", "value_count"
            ],
            "context": [
                "library", "version", "top_k", "filters", "page_evidence", "query_expansion",
                "prefix", "model", "alpha", "fusion", "rrf_k", "rrf_weights", "candidate_count",
                "intent", "dependencies", "min_score", "min_confidence", "levels", "exclude",
                "changed_since", "hierarchy", "mmr_lambda", "graph", "max_per_page", "page_decay",
                "reranked", "token_budget", "expand", "expansion_threshold", "expansion_share",
                "max_documents_to_expand", "max_chunks_per_document", "score_share", "parents",
                "inject_types", "inject_count", "format", "siblings", "overlap"
            ],
            "answer_context": [
                "library", "version", "top_k", "filters", "page_evidence", "query_expansion",
                "prefix", "model", "alpha", "fusion", "rrf_k", "rrf_weights", "candidate_count",
                "intent", "dependencies", "min_score", "min_confidence", "levels", "exclude",
                "changed_since", "hierarchy", "mmr_lambda", "graph", "max_per_page", "page_decay",
                "reranked", "token_budget", "expand", "expansion_threshold", "expansion_share",
                "max_documents_to_expand", "max_chunks_per_document", "score_share", "parents",
                "inject_types", "inject_count", "template"
            ]
        }
    }'::pg_catalog.jsonb;
$$;
