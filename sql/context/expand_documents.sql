-- Adds the rest of the best pages: the text around a hit often completes the answer.
create or replace function pgrag.expand_documents(
    document_ids anycompatiblearray,
    scores double precision[],
    expansion_threshold double precision default 0.3,
    max_documents_to_expand integer default 3,
    max_chunks_per_document integer default 20,
    expansion_share double precision default 0
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 30
set search_path from current
as $$
declare
    given_ids constant bigint[] := _pgrag.passage_ids(expand_documents.document_ids::text[]);
begin
    if cardinality(document_ids) is distinct from cardinality(scores) then
        raise exception 'There are % document_ids and % scores.',
            cardinality(document_ids), cardinality(scores)
            using errcode = 'PGR01', hint = 'Pass one score for each document_id.';
    end if;
    perform _pgrag.check_given('expansion_threshold', expansion_threshold);
    perform _pgrag.check_range('max_documents_to_expand', max_documents_to_expand, 0, 2147483647);
    perform _pgrag.check_range('max_chunks_per_document', max_chunks_per_document, 0, 2147483647);
    perform _pgrag.check_range('expansion_share', expansion_share, 0, 1);
    return query
    select e.*
    from _pgrag.expanded_hits(
        given_ids, scores, null, expansion_threshold, expansion_share, max_documents_to_expand,
        max_chunks_per_document
    ) as e;
end;
$$;

comment on function pgrag.expand_documents is
'The hits and the other paragraphs of the best pages: at most max_documents_to_expand pages whose
best score reaches expansion_threshold and the share expansion_share of the best score of all; at
most max_chunks_per_document paragraphs per page, those nearest to its hits. Each passage once;
pages by their best score, each in reading order; relation hit or expansion; an added passage has
the score 0.1, and as distance the number of passages to the nearest hit. Errors: PGR01, PGR05.';

-- confidences: of the hits; null where they are not known. A page needs the share of the best hit's
-- confidence, too, which tells pages apart where scores hardly do: ranks, a reranker.
create or replace function _pgrag.expanded_hits(
    document_ids bigint[],
    scores double precision[],
    confidences double precision[],
    expansion_threshold double precision,
    expansion_share double precision,
    max_documents_to_expand integer,
    max_chunks_per_document integer,
    with_hits boolean default true
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 30
as $$
begin
    return query
    with hits as materialized (
        select
            -- Only for its error of an unknown id: the function reads whole rows.
            coalesce(d.library_id, (_pgrag.document(h.document_id)).library_id) as library_id,
            h.document_id, d.page_id, d.sort_order,
            max(h.score) as score,
            max(h.confidence) as confidence
        from unnest(document_ids, scores, confidences) as h (document_id, score, confidence)
        left join lateral (
            select s.library_id, s.page_id, s.sort_order
            from pgrag.documents as s
            where s.library_id = h.document_id >> 33 and s.document_id = h.document_id
            offset 0
        ) as d on true
        group by 1, 2, 3, 4
    ),
    pages as (
        select
            h.library_id,
            h.page_id,
            array_agg(h.sort_order) as sort_orders,
            max(h.score) as score,
            max(max(h.score)) over () as best_score,
            max(h.confidence) as confidence,
            max(max(h.confidence)) over () as best_confidence,
            max(max(h.score)) over (partition by h.library_id) as best_score_of_library,
            -- Across all libraries, because the limit applies to their total.
            row_number() over (
                order by max(h.confidence) desc nulls last, max(h.score) desc nulls last, h.page_id
            ) as nth
        from hits as h
        group by h.library_id, h.page_id
    ),
    neighbours as (
        select
            d.document_id, d.page_id, d.sort_order, f.distance,
            row_number() over (partition by d.page_id order by f.distance, d.sort_order) as nearness
        from pages as p
        join pgrag.documents as d
            on d.library_id = p.library_id and d.page_id = p.page_id and d.level = 2
        cross join lateral (
            select min(abs(d.sort_order - o)) as distance from unnest(p.sort_orders) as o
        ) as f
        where p.nth <= max_documents_to_expand
            and p.score >= greatest(
                expansion_threshold,
                -- The product of the smallest numbers would underflow.
                case when abs(p.best_score) < 1e-100 then 0 else expansion_share * p.best_score end
            )
            and (p.nth = 1 or (p.confidence < expansion_share * p.best_confidence) is not true)
    ),
    -- Materialized, because the join below would compute it once per page.
    expanded as materialized (
        select
            h.document_id, h.page_id, h.sort_order, h.score, 'hit' as relation,
            null::integer as distance
        from hits as h
        where with_hits
        union all
        select n.document_id, n.page_id, n.sort_order, 0.1, 'expansion', n.distance
        from neighbours as n
        where n.nearness <= max_chunks_per_document and n.document_id <> all (document_ids)
    )
    select s.*
    from expanded as e
    join pages as p on p.page_id = e.page_id
    cross join lateral _pgrag.passage(
        p.library_id, e.document_id, e.relation, e.distance, e.score
    ) as s
    order by p.best_score_of_library desc, p.library_id, p.score desc, p.page_id, e.sort_order;
end;
$$;
