create or replace function pgrag.explain_search(
    query text,
    library text default null,
    top_k integer default 10,
    version text default null,
    filters jsonb default null,
    query_embedding halfvec default null,
    options jsonb default '{}'
)
returns table (
    rank bigint,
    document_id bigint,
    title text,
    path text[],
    score double precision,
    keyword_score double precision,
    semantic_score double precision,
    words text,
    explanation jsonb,
    reasons text
)
language plpgsql
stable
parallel unsafe
rows 10
set search_path from current
as $$
begin
    return query
    select
        s.ordinality, s.document_id, s.title, s.path, s.score, s.keyword_score, s.semantic_score,
        (
            select string_agg(
                format('%s %s', w ->> 'lexeme', round((w ->> 'adds')::numeric, 3)), ', '
                order by (w ->> 'adds')::numeric desc
            )
            from jsonb_array_elements(s.explanation #> '{keyword,lexemes}') as w
            where (w ->> 'adds')::numeric > 0
        ),
        s.explanation,
        (
            select string_agg(r.reason, E'\n' order by r.nth)
            from jsonb_array_elements_text(s.explanation -> 'reasons')
                with ordinality as r (reason, nth)
        )
    from _pgrag.search_hits(
        explain_search.query,
        _pgrag.search_document('search', options, (
            select to_jsonb(a) from (select library, version, top_k, filters) as a
        )) || '{"explain": true}',
        explain_search.query_embedding
    ) with ordinality as s
    order by s.ordinality;
end;
$$;

comment on function pgrag.explain_search is
'The hits of pgrag.search with the same arguments, and the reasons for their rank. words lists what
each lexeme of the query added to the passage''s keyword score; explanation has every number (jsonb:
score, rerank_score [null without a reranker''s scores], section_score [if a summary above it
lent its higher score], hybrid_score [before rearranging], page_decay and better_on_page [the score
is hybrid_score, or that of the graph, times page_decay once for each better hit of its page],
intent [the result of detect_intent],
filters [found in the query''s text], unit, aggregate, hierarchy, mmr_lambda, query_expansion,
fusion, alpha, type and type_weight [of the page], language_weight, phrase_weight [below 1 if a
quoted phrase does not occur], keyword {score, rank, passage_score, page_score, page_evidence,
page_bm25, title_score, title_evidence [as much of it as counts for this query], lexemes [{lexeme,
documents, idf, weight, impact, adds}]}, semantic {score, rank, model}, tokens {weight, score, words
[{word, share, match}]}, confidence {value, coverage, known, page, cosine}, plans [how each
retriever was read], parts [what adds up to the score: words, meaning, page and its titles, links;
and, where they act, with a sign: type_weight, language_weight, limit (no more than 1),
phrase_weight, summary (lent by one above), tokens, page_decay, aggregate, hierarchy, rerank;
filters for filters alone], reasons, graph [null without it; score =
semantic + edge + centrality, at most 1; type, type_weight [in semantic already], edge_share,
centrality_share; seeds, linked_by and links_to, numbers of best pages; edges_in and edges_out,
{edge_id, page_id, title, kind, confidence, weight, sentence, line}; path, the titles of the pages
on the way to this one]); reasons says the same in words, one sentence per line. Errors as in
pgrag.search.';
