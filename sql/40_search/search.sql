-- THE entry: every face and every other search function comes through here. It stays in the
-- session's own process: filters in a query are checked in a subtransaction, which no parallel
-- worker of PostgreSQL 16 may begin.
create or replace function pgrag.search(
    query text,
    library text default null,
    version text default null,
    match_count integer default 10,
    filters jsonb default null,
    alpha double precision default null,
    fusion text default 'absolute',
    min_score double precision default 0,
    levels integer[] default null,
    max_per_page integer default null,
    after text default null,
    query_embedding halfvec default null,
    model text default null,
    page_evidence double precision default null,
    candidate_count integer default 100,
    rrf_k integer default 60,
    rrf_weights double precision[] default '{1, 1}',
    snippets boolean default false,
    explain boolean default false,
    intent text default null,
    unit text default null,
    aggregate text default null,
    hierarchy text default null,
    mmr_lambda double precision default null,
    query_expansion text default null,
    graph boolean default null
)
returns setof pgrag.hit
language plpgsql
stable
parallel restricted
rows 10
set search_path from current
-- Planning anew for each query takes longer than most of the steps.
set plan_cache_mode = force_generic_plan
as $$
declare
    request pgrag.search_request;
begin
    request := pgrag._search_request(
        search.query, search.library, search.version, search.match_count, search.filters,
        search.alpha, search.fusion, search.min_score, search.levels, search.max_per_page,
        search.after, search.query_embedding, search.model, search.page_evidence,
        search.candidate_count, search.rrf_k, search.rrf_weights, search.intent, search.unit,
        search.aggregate, search.hierarchy, search.mmr_lambda, search.query_expansion,
        search.graph
    );
    return query
    select h.*
    from pgrag._hits(
        request, pgrag._list_hits(request), search.snippets, search.explain
    ) as h;
end;
$$;

comment on function pgrag.search(text, text, text, integer, jsonb, double precision, text, double precision, integer[], integer, text, halfvec, text, double precision, integer, integer, double precision[], boolean, boolean, text, text, text, text, double precision, text, boolean) is
'Hybrid search. query: words rank it; "a phrase" and +word must occur, -word must not, type:guide
filters (see parse_query). library: null for all (or filters {"library": […]}); version: a label, a
range, null for the newest, "*" for every one (see resolve_version). filters: see filter_predicate.
score, between 0 and 1, is (1 - alpha) keyword_score + alpha semantic_score; keyword_score is BM25F
divided by its sum of idf (k1 + 1), with the share page_evidence from the page: its own BM25F and
its titles; semantic_score is the cosine. alpha: the share of the vector arm (default: the
library''s, else the model''s, else pgrag.hybrid_alpha, else 0.3). fusion "rrf": sum of rrf_weights
/ (rrf_k + rank) instead (Cormack, Clarke, Buettcher, SIGIR 2009), 0 from an arm that did not find
the hit. min_score is applied before the limit. levels: 0 page summaries, 1 section summaries, 2
paragraphs (default 1 and 2, where a summary gives way to its section''s paragraphs and lends the
best of them its score). max_per_page: the best so many of each page. after: the cursor of the last
hit, for the next page of results. query_embedding: the query''s vector, needed for models outside
the database. candidate_count: how deep each arm is read. snippets: an excerpt with the words
marked by **. explain: every number behind the score (see explain_search). intent: "auto" (see
detect_intent) or the name of an intent or query type chooses levels, unit, aggregate, hierarchy
and alpha where they are not given; "off" (default: the library''s setting). unit "page": one hit a
page, scored by aggregate (max, mean, rrf). hierarchy: "depth" prefers the section of the best hit,
"breadth" other sections and pages, "overview" summaries and introductions. mmr_lambda: below 1 it
trades score for difference from the hits before (Carbonell, Goldstein, SIGIR 1998).
query_expansion: "synonyms", "feedback" (RM3) or "both". graph: links count, and pages that only
links lead to may come in (default: the library''s setting graph; the score is told in
docs/graph-search.md, and min_score is about hybrid_score). Where these give a new order, the rows
stand in it and hybrid_score keeps the fused score. Ties break by document_id. Errors: PGR01
arguments, PGR02 library, PGR03 version, PGR06 filters, PGR07 cursor, PGR08 dimension, PGR09
model.';
