-- THE entry: every face and every other search function comes through here.
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
    explain boolean default false
)
returns setof pgrag.hit
language plpgsql
stable
parallel safe
rows 10
set search_path from current
-- Planning anew for each query takes longer than most of the steps.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    request pgrag.search_request;
    listing pgrag.listing;
begin
    request := pgrag._search_request(
        search.query, search.library, search.version, search.match_count, search.filters,
        search.alpha, search.fusion, search.min_score, search.levels, search.max_per_page,
        search.after, search.query_embedding, search.model, search.page_evidence,
        search.candidate_count, search.rrf_k, search.rrf_weights
    );
    listing := case
        when search.after is null then pgrag._first_hits(request)
        else pgrag._next_hits(request)
    end;

    return query
    select
        d.document_id,
        d.page_id,
        l.name,
        v.label,
        p.url,
        p.title,
        d.path,
        d.content,
        h.score,
        h.keyword_score,
        h.semantic_score,
        p.key,
        d.level,
        d.heading,
        d.anchor,
        d.types,
        d.sort_order,
        d.line_start,
        d.line_end,
        p.link,
        case when search.snippets then pgrag._snippet(d.language, d.content, request) end,
        concat_ws(
            ':', h.score, h.document_id, listing.depths[place], listing.start_depth
        ),
        case
            when search.explain
            then pgrag._explanation(request, listing.hits[place], listing.plans)
        end
    from generate_subscripts(listing.hits, 1) as place
    cross join lateral (select (listing.hits[place]).*) as h
    join pgrag.documents as d on d.library_id = h.library_id and d.document_id = h.document_id
    join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
    join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
    join pgrag.libraries as l on l.library_id = d.library_id
    order by place;
end;
$$;

comment on function pgrag.search(text, text, text, integer, jsonb, double precision, text, double precision, integer[], integer, text, halfvec, text, double precision, integer, integer, double precision[], boolean, boolean) is
'Hybrid search. query: words rank it; "a phrase" and +word must occur, -word must not. library: null
for all (or filters {"library": […]}); version: a label, a range, null for the newest, "*" for
every one (see resolve_version). filters: see filter_predicate. score, between 0 and 1, is (1 -
alpha) keyword_score + alpha semantic_score; keyword_score is BM25F divided by its sum of idf (k1 +
1), with the share page_evidence from the page''s own BM25F; semantic_score is the cosine. alpha:
the share of the vector arm (default: the library''s, else the model''s, else pgrag.hybrid_alpha,
else 0.3). fusion "rrf": sum of rrf_weights / (rrf_k + rank) instead (Cormack, Clarke, Buettcher,
SIGIR 2009), 0 from an arm that did not find the hit. min_score is applied before the limit.
levels: 0 page summaries, 1 section summaries, 2 paragraphs (default 1 and 2, where a summary gives
way to its section''s paragraphs and lends the best of them its score). max_per_page: the best so
many of each page. after: the cursor of the last hit, for the next page of results.
query_embedding: the query''s vector, needed for models outside the database. candidate_count: how
deep each arm is read. snippets: an excerpt with the words marked by **. explain: every number
behind the score (see explain_search). Ties break by document_id. Errors: PGR01 arguments, PGR02
library, PGR03 version, PGR06 filters, PGR07 cursor, PGR08 dimension, PGR09 model.';

-- Only the rows that are returned are marked up: ts_headline reads the whole text.
create or replace function pgrag._snippet(
    language text,
    content text,
    request pgrag.search_request
)
returns text
language sql
stable
parallel safe
set search_path from current
as $$
    select case
        when words.query is null then left(pgrag.plain_text(_snippet.content), 300)
        else ts_headline(
            _snippet.language::regconfig,
            pgrag.plain_text(_snippet.content),
            words.query,
            'StartSel=**, StopSel=**, MaxFragments=2, MaxWords=30, MinWords=12, '
            'FragmentDelimiter=" … "'
        )
    end
    from (
        select string_agg(distinct pgrag._tsquery_lexeme(t.lexeme), ' | ')::tsquery as query
        from unnest((_snippet.request).terms) as t
        where t.language = _snippet.language
    ) as words;
$$;
