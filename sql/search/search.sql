-- The search for psql, with every argument by name; other search functions take most of these as
-- options. Parallel unsafe, because filters in a query are checked in a subtransaction, which a
-- parallel worker of PostgreSQL 16 must not start.
create or replace function pgrag.search(
    query text,
    library text default null,
    top_k integer default 10,
    version text default null,
    filters jsonb default null,
    alpha double precision default null,
    fusion text default 'absolute',
    min_score double precision default null,
    levels integer[] default null,
    max_per_page integer default null,
    page_decay double precision default null,
    page_hits integer default null,
    after text default null,
    query_embedding halfvec default null,
    model text default null,
    page_evidence double precision default null,
    candidate_count integer default 64,
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
    graph boolean default null,
    mode text default 'hybrid',
    exclude text[] default null,
    changed_since text default null,
    history boolean default false,
    reranked jsonb default null,
    prefix boolean default false,
    min_confidence double precision default null,
    dependencies jsonb default null
)
returns setof pgrag.hit
language plpgsql
stable
parallel unsafe
rows 10
set search_path from current
-- Planning each query takes longer than most steps of its execution.
set plan_cache_mode = force_generic_plan
as $$
declare
    request constant _pgrag.search_request := _pgrag.make_request(
        search.query,
        _pgrag.check_arguments('search', jsonb_build_object(
            'library', library, 'version', version, 'top_k', top_k, 'filters', filters,
            'alpha', alpha, 'fusion', fusion, 'min_score', min_score, 'levels', levels,
            'max_per_page', max_per_page, 'page_decay', page_decay, 'page_hits', page_hits,
            'after', after, 'model', model, 'page_evidence', page_evidence,
            'candidate_count', candidate_count, 'rrf_k', rrf_k, 'rrf_weights', rrf_weights,
            'snippets', snippets, 'explain', explain, 'intent', intent, 'unit', unit,
            'aggregate', aggregate, 'hierarchy', hierarchy, 'mmr_lambda', mmr_lambda,
            'query_expansion', query_expansion, 'graph', graph, 'mode', mode, 'exclude', exclude,
            'changed_since', changed_since, 'history', history, 'reranked', reranked,
            'prefix', prefix, 'min_confidence', min_confidence, 'dependencies', dependencies
        )),
        search.query_embedding
    );
    listing constant _pgrag.listing := _pgrag.list_hits(request);
begin
    perform _pgrag.note_no_match(listing.hits, request);
    return query select h.* from _pgrag.hits(request, listing) as h;
end;
$$;

comment on function pgrag.search is
'Hybrid search: passages by words and by meaning, best first.

score, from 0 to 1: ((1 - alpha) keyword_score + alpha semantic_score) times the retriever_weight of
the page''s type. keyword_score: BM25F divided by the query''s sum of idf (k1 + 1), mixed with the
page''s own BM25F and its titles, which have the share page_evidence. semantic_score: the cosine.
The first 20 hits of a query of more than two words get up to token_weight (a setting) of what is
missing to 1, for words near to those of the query (see docs/ranking.md).
hybrid_score: the fused score, which page_decay, graph, unit, hierarchy, mmr_lambda and reranked
leave as it is.
confidence, from 0 to 1: whether the passage answers the query, whatever decided its rank (see
docs/confidence.md); null for vectors of other models than the built-in one, and for filters alone.
If that of every hit on the first page of results is below 0.15, a notice names the nearest pages.
Of equal scores, newer versions and earlier passages of a page come first.

query: plain words rank, and so does "a phrase" among them: a passage without it keeps 95 % of its
score; +word and +"a phrase" must occur, and so must the phrases of a query of nothing else; -word
must not; type:guide filters (see parse_query).
library: null for all (or filters {"library": […]}); NAME@VERSION names a version, too.
version: a label, a range or "*" for all (see resolve_version); null for the one that the words name
("in Jest 27"; a notice says so), else the one that dependencies pin, else the newest. A notice says
which words the version lacks, and which versions have them.
dependencies: what the reader''s project depends on, {"jest": "26.0.1"} (see pinned_versions).
filters: see filter_predicate.
alpha: the share of the vector retriever (default: the library''s, else the model''s, else
pgrag.hybrid_alpha, else 0.3; with the built-in model, in a library of 1,000 passages or more, times
the share of the query''s idf that the library''s words have; a third if all words are names of
code; and the share of characters that it can read: not Chinese, Japanese, Korean or Thai).
fusion: "rrf" is the sum of rrf_weights / (rrf_k + rank) instead (Cormack, Clarke, Buettcher, SIGIR
2009); a retriever without the passage adds 0; alpha stands for the weights 2 - 2 alpha, 2 alpha.
min_score: applied before the limit; with graph, to hybrid_score; with reranked, to those scores.
min_confidence: only hits with at least this confidence, before the limit; the list then ends with
the first candidate_count candidates. Without effect, and a notice says so, where confidence is
null.
levels: 0 page summaries, 1 section summaries, 2 paragraphs (default 1 and 2: a summary gives way to
the best passage below it and lends it its score; so do page summaries that an intent adds).
max_per_page: the maximum number of hits per page.
page_decay: the score of a hit is multiplied by this once for each better hit of its page (default:
0.97; 1 with unit page, page_hits or a hierarchy); scores of a reranker are not.
page_hits: hits come page by page, the best page first; the maximum number of hits of each page.
top_k counts pages then, and after continues with the next page.
after: the cursor of the last hit, for the next page of results.
query_embedding: the query''s vector, required for models outside the database.
candidate_count: how deep each retriever is read.
snippets: an excerpt with the matches marked by **.
explain: every number behind the score (see explain_search).
intent: "auto" (see detect_intent) or the name of an intent or query type sets the default of
levels, unit, aggregate, hierarchy, alpha and the arguments that its entry names; "off" sets none
(default: the library''s setting).
unit: "page" gives one hit per page, scored by aggregate (max, mean, rrf); +word is then required on
the page, a phrase in a passage.
hierarchy: "depth" prefers the section of the best hit, "breadth" other sections and pages,
"overview" summaries and introductions.
mmr_lambda: below 1 it trades score for diversity (Carbonell, Goldstein, SIGIR 1998).
query_expansion: "synonyms", "feedback" (RM3) or "both".
prefix: the last word, unless a blank follows it, is also the beginning of words: "drain a no" finds
node.
graph: links count, and pages that only links lead to may be found (default: the library''s setting;
see docs/graph-search.md).
exclude: passages ("42", "guide.md#c3") and pages ("page:7", "guide.md") to leave out, for example
those already seen.
changed_since: only passages of sections whose text is nowhere in this version (label or range).
history: since and changed_in name the versions that first had the passage''s section, and that last
changed its text (see section_history).
reranked: scores from 0 to 1 by document_id, as a reranker gives them to the hits of the same search
with a larger top_k: only these passages are hits, in this order.

Weights of types are below 1 for posts and release notes, unless words of the query or a filter name
them (see docs/page-types.md); always 1 with mode semantic or the library''s setting type_weights
false. chunk_key: the page''s key, #c and sort_order. previous_section, next_section: document_id of
the sections around the hit''s in reading order, whatever their level; sibling_sections: of the
nearest ten on each side under the same parent; has_children: whether sections are below it.
version_reason: why this version was read. Errors: PGR01 arguments (also one that could have no
effect beside the others), PGR02 library, PGR03 version, PGR06 filters, PGR07 cursor, PGR08
dimension, PGR09 model.';
