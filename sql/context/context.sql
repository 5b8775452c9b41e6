-- Turns a search into text for a reader or a language model: the hits and related passages, whole,
-- in reading order, within a token budget.
create or replace function pgrag.context(
    query text,
    library text default null,
    version text default null,
    top_k integer default 10,
    token_budget integer default 4000,
    format text default 'grouped',
    expand boolean default true,
    expansion_threshold double precision default 0.3,
    max_documents_to_expand integer default 3,
    max_chunks_per_document integer default 20,
    parents boolean default false,
    siblings integer default 0,
    overlap boolean default false,
    filters jsonb default null,
    score_share double precision default 0.5,
    expansion_share double precision default 0.8,
    query_embedding halfvec default null,
    options jsonb default '{}'
)
returns setof pgrag.context_block
language plpgsql
stable
parallel restricted
rows 30
set search_path from current
-- As in pgrag.search: planning takes longer than most steps of the execution.
set plan_cache_mode = force_generic_plan
as $$
declare
    document constant jsonb :=
        _pgrag.search_document('context', context.options, jsonb_build_object(
        'library', context.library,
        'version', context.version,
        'top_k', context.top_k,
        'filters', context.filters,
        'token_budget', context.token_budget,
        'format', context.format,
        'expand', context.expand,
        'parents', context.parents,
        'overlap', context.overlap,
        'siblings', context.siblings,
        'score_share', context.score_share,
        'expansion_share', context.expansion_share,
        'expansion_threshold', context.expansion_threshold,
        'max_documents_to_expand', context.max_documents_to_expand,
        'max_chunks_per_document', context.max_chunks_per_document
    ));
    request _pgrag.search_request := _pgrag.make_request(
        -- A context consists of passages, even if the intent would list pages.
        context.query, document || '{"unit": "document"}', context.query_embedding
    );
    hits _pgrag.ranked_hit[];
begin
    hits := _pgrag.near_the_best(
        (_pgrag.list_hits(request)).hits, context.score_share, request.graph is not null
    );

    return query
    select
        b.document_id, b.page_id, b.library, b.version, b.url, b.title, b.path, b.content, b.score,
        b.relation, b.tokens, b.block, _pgrag.version_reason(request, d.version_id)
    from _pgrag.format_context(
        array(select g from _pgrag.gather(request, hits, document) as g),
        context.format, context.overlap, context.token_budget
    ) with ordinality as b
    join pgrag.documents as d
        on d.library_id = any ((request.target).library_ids) and d.document_id = b.document_id
    order by b.ordinality;
end;
$$;

comment on function pgrag.context is
'The context for a question: the hits of pgrag.search that reach the share score_share of the best
hit''s score, expanded by pgrag.expand_documents (expand, expansion_threshold,
max_documents_to_expand, max_chunks_per_document, expansion_share), with the summary of the nearest
section above each hit that says more than the context does (parents; sentences that the context has
are left out), this many neighbours before and after each hit (siblings: passages under the same
parent, then those beside them on the page), and the end of the preceding paragraph unless that
paragraph is in the context itself (overlap). Whole passages only, best first, as far as they fit
into token_budget (a token is counted as 4 bytes of UTF-8); then in reading order, page by page.
block is the text of a row: format "simple" puts breadcrumbs and relevance above every passage,
"grouped" a heading above each root section; the blocks, joined by empty lines, are the context.
relation: hit, expansion, parent or sibling. intent "auto": a question about everything also finds
summaries of pages. Errors: PGR01 and those of pgrag.search.';

-- Rearranging may reassign scores, so the fused score decides how near a hit is to the best and
-- whether its page is expanded. With the graph, the score of the graph decides.
create or replace function _pgrag.near_the_best(
    hits _pgrag.ranked_hit[],
    score_share double precision,
    by_links boolean
)
returns _pgrag.ranked_hit[]
language plpgsql
immutable
parallel safe
as $$
begin
    if not by_links then
        for nth in 1..cardinality(hits) loop
            hits[nth].score := hits[nth].hybrid_score;
        end loop;
    end if;
    return array(
        select h
        from unnest(hits) as h
        where h.score >= score_share * (select max(b.score) from unnest(hits) as b)
    );
end;
$$;
