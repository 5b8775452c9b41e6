create or replace function pgrag.context(
    query text,
    library text default null,
    top_k integer default 20,
    version text default null,
    token_budget integer default 4000,
    format text default 'grouped',
    expand boolean default null,
    expansion_threshold double precision default null,
    max_documents_to_expand integer default null,
    max_chunks_per_document integer default null,
    parents boolean default null,
    siblings integer default 0,
    overlap boolean default false,
    filters jsonb default null,
    score_share double precision default null,
    expansion_share double precision default null,
    inject_types text[] default null,
    inject_count integer default null,
    query_embedding halfvec default null,
    options jsonb default '{}'
)
returns setof pgrag.context_block
language plpgsql
stable
parallel unsafe
rows 30
set search_path from current
-- As in pgrag.search: planning takes longer than most steps of the execution.
set plan_cache_mode = force_generic_plan
as $$
declare
    document constant jsonb := _pgrag.search_document('context', options, (
        select to_jsonb(a)
        from (
            select
                library, version, top_k, filters, token_budget, format, expand, parents, overlap,
                siblings, score_share, expansion_share, expansion_threshold,
                max_documents_to_expand, max_chunks_per_document, inject_types, inject_count
        ) as a
    ));
    request _pgrag.search_request := _pgrag.make_request(
        -- A context consists of passages, even if the intent would list pages.
        context.query, document || '{"unit": "document"}', context.query_embedding
    );
    arguments constant jsonb := _pgrag.reading_arguments(document, request);
    hits _pgrag.ranked_hit[] := _pgrag.near_the_best(
        request, (_pgrag.list_hits(request)).hits, arguments
    );
    passages pgrag.passage[] := array(
        select g
        from _pgrag.gather(
            request, hits, _pgrag.injected_passages(request, hits, arguments), arguments
        ) as g
    );
begin
    perform _pgrag.note_no_match(hits, request);
    passages := _pgrag.without_repetition(
        passages,
        _pgrag.affordable(
            passages,
            array(
                select _pgrag.passage_size(p.content, 38)
                from unnest(passages) with ordinality as p
                order by p.ordinality
            ),
            (arguments ->> 'token_budget')::integer
        )
    );
    return query
    with reading as (
        select
            p.*,
            max(p.score) over (partition by p.page_id) as page_score,
            case when p.path[1] = p.title then p.path else p.title || p.path end as breadcrumbs
        from unnest(passages) as p
    ),
    ordered as (
        select
            a.*,
            lag(a.sort_order) over page_order as sort_order_before,
            lag(a.level) over page_order as level_before,
            lag(a.root_section) over page_order as root_before,
            row_number() over page_order = 1 as opens_page,
            row_number() over (order by a.page_score desc, a.page_id, a.sort_order) as nth
        from reading as a
        window page_order as (partition by a.page_id order by a.sort_order)
    ),
    blocks as (
        select
            o.*,
            concat(
                case
                    when arguments ->> 'format' = 'simple'
                    then format(
                        E'[%s] %s (relevance %s, %s)\n',
                        o.nth,
                        _pgrag.quoted_line(array_to_string(o.breadcrumbs, ' › ')),
                        round(o.score::numeric, 2),
                        _pgrag.quoted_line(
                            o.url || case when o.anchor <> '' then '#' || o.anchor else '' end
                        )
                    )
                    when o.opens_page or o.root_before is distinct from o.root_section
                    then format(
                        E'## %s (%s)\n',
                        _pgrag.quoted_line(
                            concat_ws(' › ', o.title, nullif(nullif(o.root_section, ''), o.title))
                        ),
                        _pgrag.quoted_line(o.url)
                    )
                end,
                case
                    when arguments ->> 'format' = 'grouped' and o.heading <> ''
                        and o.heading <> o.root_section
                    then format(E'### %s\n', _pgrag.quoted_line(o.heading))
                end,
                case
                    when arguments ->> 'format' = 'grouped'
                    then format(
                        E'[relevance %s, level %s]\n', round(o.score::numeric, 2), o.heading_level
                    )
                end,
                _pgrag.quoted(
                    'passage', format(' id="%s"', o.document_id),
                    concat(
                        case
                            when (arguments ->> 'overlap')::boolean and o.overlap <> ''
                                and o.sort_order_before is distinct from o.sort_order - 1
                            then '… ' || o.overlap || ' '
                        end,
                        o.content
                    )
                )
            ) as block
        from ordered as o
    )
    select
        b.document_id, b.page_id, b.library, b.version, b.url, b.title, b.path, b.content, b.score,
        b.relation, ceil(octet_length(b.block) / 4.0)::integer, b.block,
        _pgrag.version_reason(request, d.version_id), h.hybrid_score, h.keyword_score,
        h.semantic_score, h.keyword_rank, h.semantic_rank, h.confidence
    from blocks as b
    join pgrag.documents as d
        on d.library_id = any ((request.target).library_ids) and d.document_id = b.document_id
    left join unnest(hits) as h on h.document_id = b.document_id
    order by b.nth;
end;
$$;

comment on function pgrag.context is
'The context for a question: the hits of pgrag.search, without pages whose best hit is below the
share score_share of the best score, expanded by what stands beside the two best, and by whole pages
if they leave a part of token_budget (expand, expansion_threshold, max_documents_to_expand,
max_chunks_per_document, expansion_share; without expansion_threshold the best page is expanded
unless no hit has a confidence of 0.05, and others by expansion_share), with the summary of the
nearest section above each hit that says more than the context does (parents; sentences that the
context has of its page are left out), this many neighbours before and after each hit (siblings:
passages under the same parent, then those beside them on the page), and the end of the preceding
paragraph unless that paragraph is in the context itself (overlap). Whole passages only, best first,
as far as they fit into token_budget (a token is counted as 4 bytes of UTF-8); then in reading
order, page by page. block is the text of a row: format "simple" puts breadcrumbs and relevance
above every passage, "grouped" a heading above each root section, and relevance and heading level
above every passage; the passage itself stands between <passage id="…"> and </passage>, which no
page can forge; the blocks, joined by empty lines, are the context. relation: hit, injected,
expansion, parent or sibling. A second search adds up to inject_count passages (relation injected)
from pages of the types inject_types, the best of those that have no hit, one per page (null: the
types of the intent; empty: no second search). hybrid_score, confidence, and the scores and ranks of
both retrievers: of a hit, as in search. The intent also sets the other arguments that its entry
names. intent "auto": a question about everything also finds summaries of pages. Errors: PGR01 and
those of pgrag.search.';

-- Rearranging may reassign scores, so the fused score decides how near a hit is to the best and
-- whether its page is expanded. With a reranker or the graph, their score decides.
create or replace function _pgrag.near_the_best(
    request _pgrag.search_request,
    hits _pgrag.ranked_hit[],
    arguments jsonb
)
returns _pgrag.ranked_hit[]
language plpgsql
immutable
parallel safe
as $$
begin
    if request.graph is null and request.reranked is null then
        for nth in 1..cardinality(hits) loop
            hits[nth].score := hits[nth].hybrid_score;
        end loop;
    end if;
    return array(
        select h
        from unnest(hits) as h
        where h.page_id in (
            select b.page_id
            from unnest(hits) as b
            where b.score >= (arguments ->> 'score_share')::double precision
                * (select max(best.score) from unnest(hits) as best)
        )
    );
end;
$$;
