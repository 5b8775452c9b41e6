-- A search, made into the text that a reader or a language model needs: the hits, what belongs to
-- them, in reading order, within a budget of tokens and only whole documents.
create or replace function pgrag.context(
    query text,
    library text default null,
    version text default null,
    match_count integer default 10,
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
    alpha double precision default null,
    min_score double precision default 0,
    levels integer[] default null,
    query_embedding halfvec default null,
    model text default null,
    score_share double precision default 0.5,
    expansion_share double precision default 0.8,
    fusion text default 'absolute',
    max_per_page integer default null,
    page_evidence double precision default null,
    intent text default null,
    hierarchy text default null,
    mmr_lambda double precision default null,
    query_expansion text default null,
    graph boolean default null
)
returns setof pgrag.context_block
language plpgsql
stable
parallel restricted
rows 30
set search_path from current
-- As in pgrag.search: planning anew for each query takes longer than most of the steps.
set plan_cache_mode = force_generic_plan
as $$
declare
    request pgrag.search_request;
    hits pgrag.ranked_hit[];
begin
    if context.format is null or context.format not in ('simple', 'grouped') then
        raise exception 'format must be simple or grouped, got %.', quote_nullable(context.format)
            using errcode = 'PGR01';
    end if;
    if context.token_budget is null or context.token_budget < 1 then
        raise exception 'token_budget must be at least 1, got %.', context.token_budget
            using errcode = 'PGR01';
    end if;
    if (context.siblings >= 0) is not true then
        raise exception 'siblings must be at least 0, got %.',
            coalesce(context.siblings::text, 'null')
            using errcode = 'PGR01';
    end if;
    if (
        context.score_share between 0 and 1 and context.expansion_share between 0 and 1
    ) is not true
    then
        raise exception 'score_share and expansion_share must be from 0 to 1, got % and %.',
            coalesce(context.score_share::text, 'null'),
            coalesce(context.expansion_share::text, 'null')
            using errcode = 'PGR01';
    end if;
    request := pgrag._search_request(
        query => context.query,
        library => context.library,
        version => context.version,
        match_count => context.match_count,
        filters => context.filters,
        alpha => context.alpha,
        min_score => context.min_score,
        levels => context.levels,
        query_embedding => context.query_embedding,
        model => context.model,
        fusion => context.fusion,
        max_per_page => context.max_per_page,
        page_evidence => context.page_evidence,
        intent => context.intent,
        -- A context is of passages, also where a search would list pages.
        unit => 'document',
        hierarchy => context.hierarchy,
        mmr_lambda => context.mmr_lambda,
        query_expansion => context.query_expansion,
        graph => context.graph
    );
    hits := pgrag._near_the_best(
        (pgrag._list_hits(request)).hits, context.score_share, request.graph is not null
    );

    return query
    select b.*
    from pgrag._format_context(
        array(
            select g
            from pgrag._gather(
                array(select h.document_id from unnest(hits) as h),
                array(select h.score from unnest(hits) as h),
                case when context.expand then context.expansion_threshold else 'infinity' end,
                context.max_documents_to_expand, context.max_chunks_per_document,
                context.expansion_share, context.parents, context.siblings
            ) as g
        ),
        context.format, context.overlap, context.token_budget
    ) as b;
end;
$$;

comment on function pgrag.context(text, text, text, integer, integer, text, boolean, double precision, integer, integer, boolean, integer, boolean, jsonb, double precision, double precision, integer[], halfvec, text, double precision, double precision, text, integer, double precision, text, text, double precision, text, boolean) is
'The context for a question: the hits of pgrag.search that reach the share score_share of the best
hit''s score, expanded by pgrag.expand_documents (expand, expansion_threshold,
max_documents_to_expand, max_chunks_per_document, expansion_share), with the summary of the
section above each hit (parents), so many neighbours before and after (siblings), and the end of
the paragraph before where that one is not in the context itself (overlap). Whole documents only,
best first, as far as they fit into token_budget (a token is counted as 4 bytes of UTF-8); then in
reading order, page by page. block is the text of a row: format "simple" puts breadcrumbs and
relevance above every document, "grouped" a heading above each root section; joined by empty lines
the blocks are the context. relation: hit, expansion, parent or sibling. intent "auto": a question
for everything also finds summaries of pages. Errors: PGR01 and those of pgrag.search.';

-- A new order hands the scores of the old one on, place by place; how far a hit is from the best,
-- and whether its page is worth reading whole, is told by its own. Links make a score of their own.
create or replace function pgrag._near_the_best(
    hits pgrag.ranked_hit[],
    score_share double precision,
    by_links boolean
)
returns pgrag.ranked_hit[]
language sql
immutable
parallel safe
set search_path from current
as $$
    select array(
        select row(
            r.library_id, r.document_id, r.page_id, r.own_score, r.keyword_score, r.semantic_score,
            r.passage_score, r.page_score, r.keyword_rank, r.semantic_rank, r.section_score,
            r.hybrid_score, r.graph
        )::pgrag.ranked_hit
        from (
            select o.*, max(o.own_score) over () as best_score
            from (
                select
                    h.*,
                    case when _near_the_best.by_links then h.score else h.hybrid_score end
                        as own_score
                from unnest(_near_the_best.hits) with ordinality as h
            ) as o
        ) as r
        where r.own_score >= _near_the_best.score_share * r.best_score
        order by r.ordinality
    );
$$;

-- Hits, expansion, parents and neighbours, each document once, with the relation that matters most.
create or replace function pgrag._gather(
    hit_ids bigint[],
    hit_scores double precision[],
    expansion_threshold double precision,
    max_documents_to_expand integer,
    max_chunks_per_document integer,
    expansion_share double precision,
    parents boolean,
    siblings integer
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    gathered pgrag.passage[] := array(
        select e
        from pgrag.expand_documents(
            _gather.hit_ids, _gather.hit_scores, _gather.expansion_threshold,
            _gather.max_documents_to_expand, _gather.max_chunks_per_document,
            _gather.expansion_share
        ) as e
    );
begin
    if _gather.parents then
        gathered := gathered || array(
            select row(
                p.document_id, p.page_id, p.library, p.version, p.url, p.title, p.path, p.content,
                h.score, 'parent', 1, p.key, p.level, p.heading, p.heading_level, p.depth,
                p.position, p.root_section, p.anchor, p.types, p.sort_order, p.overlap,
                p.line_start, p.line_end
            )::pgrag.passage
            from unnest(_gather.hit_ids, _gather.hit_scores) as h (document_id, score)
            cross join lateral pgrag.parent(h.document_id) as p
        );
    end if;
    if _gather.siblings > 0 then
        gathered := gathered || array(
            select row(
                s.document_id, s.page_id, s.library, s.version, s.url, s.title, s.path, s.content,
                0.1, 'sibling', s.distance, s.key, s.level, s.heading, s.heading_level, s.depth,
                s.position, s.root_section, s.anchor, s.types, s.sort_order, s.overlap,
                s.line_start, s.line_end
            )::pgrag.passage
            from unnest(_gather.hit_ids) as h (document_id)
            cross join lateral pgrag.siblings(
                h.document_id, _gather.siblings, _gather.siblings
            ) as s
        );
    end if;
    return query
    select distinct on (g.document_id) g.*
    from unnest(gathered) as g
    order by
        g.document_id,
        array_position('{hit,parent,sibling,expansion}'::text[], g.relation),
        g.score desc;
end;
$$;
