-- The one place for every number that a library may change.
create or replace function pgrag.default_settings()
returns jsonb
language sql
immutable
parallel safe
as $$
    select '{
        "field_weights": {"title": 6, "path": 3, "url": 2, "content": 1},
        "k1": 1.2,
        "b": 0.75,
        "alpha": 0.3,
        "page_evidence": 0.6,
        "title_evidence": 0.5,
        "exact_limit": 20000,
        "intent": "off",
        "query_expansion": "none",
        "anchor_texts": false,
        "graph": {
            "search": false,
            "depth": 1,
            "seeds": 10,
            "fan_out": 30,
            "total": 100,
            "admitted": 5,
            "semantic_weight": 1,
            "edge_weight": 0.7,
            "centrality_weight": 0.5,
            "hub_share": 0.3
        },
        "edge_vectors": false,
        "enrichment": "off"
    }'::jsonb;
$$;

comment on function pgrag.default_settings() is
'The retrieval settings of a library that sets none. field_weights, k1 and b shape BM25F; alpha is
the share of the vector arm in the fusion; page_evidence the share of the page in the keyword score,
and title_evidence the share of titles in that, the page''s own BM25F having the rest; exact_limit
the number of vectors up to which they are scanned exactly; intent and query_expansion what a search
does that does not say (see search). With anchor_texts, the words of links
to a page are searched as its own. graph: search says whether a search uses links that does not
say; from the pages of the best hits, as many as seeds, depth steps are gone to the fan_out
strongest links of each and total in all, admitted of which may join the hits; the weights are
those of the score (see docs/graph-search.md). edge_vectors: whether indexing embeds the edges as
well (see search_edges). enrichment: what a language model writes when the library is indexed by the
pgrag program: off, context, summaries, or "context,summaries" (see pending_enrichments).';

create or replace function pgrag.effective_settings(
    settings jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select pgrag.default_settings()
        || effective_settings.settings
        || pg_catalog.jsonb_build_object(
            'field_weights',
            (pgrag.default_settings() -> 'field_weights')
                || coalesce(effective_settings.settings -> 'field_weights', '{}'),
            'graph',
            (pgrag.default_settings() -> 'graph')
                || coalesce(effective_settings.settings -> 'graph', '{}')
        );
$$;

comment on function pgrag.effective_settings(jsonb) is
'A library''s settings, completed by the defaults.';

-- In the order of the labels A, B, C, D.
create or replace function pgrag._field_weights(
    settings jsonb
)
returns real[]
language sql
immutable
parallel safe
as $$
    select array[
        (_field_weights.settings #>> '{field_weights,title}')::real,
        (_field_weights.settings #>> '{field_weights,path}')::real,
        (_field_weights.settings #>> '{field_weights,url}')::real,
        (_field_weights.settings #>> '{field_weights,content}')::real
    ];
$$;
