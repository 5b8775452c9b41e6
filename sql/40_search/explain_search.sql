-- The columns of search that matter to somebody who asks why.
create or replace function pgrag.explain_search(
    query text,
    library text default null,
    version text default null,
    match_count integer default 10,
    filters jsonb default null,
    alpha double precision default null,
    fusion text default 'absolute',
    levels integer[] default null,
    query_embedding halfvec default null,
    model text default null,
    page_evidence double precision default null,
    intent text default null,
    unit text default null,
    aggregate text default null,
    hierarchy text default null,
    mmr_lambda double precision default null,
    query_expansion text default null,
    graph boolean default null
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
parallel restricted
rows 10
set search_path from current
as $$
begin
    return query
    select
        s.ordinality,
        s.document_id,
        s.title,
        s.path,
        s.score,
        s.keyword_score,
        s.semantic_score,
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
            select string_agg(r.reason, E'\n' order by r.place)
            from jsonb_array_elements_text(s.explanation -> 'reasons')
                with ordinality as r (reason, place)
        )
    from pgrag.search(
        query => explain_search.query,
        library => explain_search.library,
        version => explain_search.version,
        match_count => explain_search.match_count,
        filters => explain_search.filters,
        alpha => explain_search.alpha,
        fusion => explain_search.fusion,
        levels => explain_search.levels,
        query_embedding => explain_search.query_embedding,
        model => explain_search.model,
        page_evidence => explain_search.page_evidence,
        explain => true,
        intent => explain_search.intent,
        unit => explain_search.unit,
        aggregate => explain_search.aggregate,
        hierarchy => explain_search.hierarchy,
        mmr_lambda => explain_search.mmr_lambda,
        query_expansion => explain_search.query_expansion,
        graph => explain_search.graph
    ) with ordinality as s
    order by s.ordinality;
end;
$$;

comment on function pgrag.explain_search(text, text, text, integer, jsonb, double precision, text, integer[], halfvec, text, double precision, text, text, text, text, double precision, text, boolean) is
'The hits of pgrag.search with the same arguments, and why they stand where they do: words lists
what each lexeme of the query added to the passage''s keyword score; explanation holds every
number (jsonb: score, section_score [where the section''s summary lent its higher score],
hybrid_score [before a new order], intent [what detect_intent said and chose], filters [found in
the query''s text], unit, aggregate, hierarchy, mmr_lambda, query_expansion, fusion, alpha, keyword
{score, rank, passage_score, page_score, page_evidence, page_bm25, title_score, title_evidence,
lexemes [{lexeme, documents, idf, weight, impact, adds}]}, semantic {score, rank, model}, plans
[how each arm was read], reasons, graph [null without it; score = semantic + edge + centrality, at
most 1; type, type_weight, edge_share, centrality_share; seeds, linked_by and links_to, the numbers
of best pages; edges_in and edges_out, {edge_id, page_id, title, kind, confidence, weight, sentence,
line}; path, the titles by which the page was reached]); reasons is the same in words, a sentence a
line. Errors as in pgrag.search.';
