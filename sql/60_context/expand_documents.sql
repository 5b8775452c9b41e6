-- A page that answers well is read whole: what stands around a hit is often the rest of the answer.
create or replace function pgrag.expand_documents(
    document_ids bigint[],
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
    owner record;
    best_pages bigint[];
begin
    if cardinality(document_ids) is distinct from cardinality(scores) then
        raise exception 'There are % document_ids and % scores.',
            cardinality(document_ids), cardinality(scores)
            using errcode = 'PGR01', hint = 'Pass one score for each document.';
    end if;
    if (
        expansion_threshold is not null
        and max_documents_to_expand >= 0
        and max_chunks_per_document >= 0
        and expansion_share between 0 and 1
    ) is not true
    then
        raise exception
            'An expansion needs a threshold, limits of at least 0 and a share from 0 to 1, '
            'got %, %, % and %.',
            coalesce(expansion_threshold::text, 'null'),
            coalesce(max_documents_to_expand::text, 'null'),
            coalesce(max_chunks_per_document::text, 'null'),
            coalesce(expansion_share::text, 'null')
            using errcode = 'PGR01';
    end if;
    -- Chosen among all libraries, so that the limit holds for them together.
    best_pages := array(
        select d.page_id
        from unnest(document_ids, scores) as h (document_id, score)
        cross join lateral pgrag._document(h.document_id) as d
        where h.score >= expansion_threshold
            and h.score >= expansion_share * (select max(s) from unnest(scores) as s)
        group by d.page_id
        order by max(h.score) desc, d.page_id
        limit max_documents_to_expand
    );
    for owner in
        select
            d.library_id,
            array_agg(h.document_id order by h.place) as ids,
            array_agg(h.score order by h.place) as scores
        from unnest(document_ids, scores) with ordinality as h (document_id, score, place)
        cross join lateral pgrag._document(h.document_id) as d
        group by d.library_id
        order by max(h.score) desc, d.library_id
    loop
        return query
        select e.*
        from pgrag._expand(
            owner.library_id, owner.ids, owner.scores, best_pages, max_chunks_per_document
        ) as e;
    end loop;
end;
$$;

comment on function pgrag.expand_documents(bigint[], double precision[], double precision, integer, integer, double precision) is
'Hits and, of the best pages (best score at least expansion_threshold and at least the share
expansion_share of the best of all, at most max_documents_to_expand of them), the other
paragraphs: at most max_chunks_per_document a page, those nearest to its hits. Each document once;
pages by their best score, each in reading order; relation hit or expansion, and an added document
has the score 0.1. Errors: PGR01, PGR05.';

create or replace function pgrag._expand(
    library_id bigint,
    document_ids bigint[],
    scores double precision[],
    best_pages bigint[],
    max_chunks_per_document integer
)
returns setof pgrag.passage
language sql
stable
parallel safe
set search_path from current
as $$
    with hits as (
        select d.document_id, d.page_id, d.sort_order, max(h.score) as score
        from unnest(_expand.document_ids, _expand.scores) as h (document_id, score)
        join pgrag.documents as d
            on d.library_id = _expand.library_id and d.document_id = h.document_id
        group by d.document_id, d.page_id, d.sort_order
    ),
    pages as (
        select
            h.page_id,
            array_agg(h.sort_order) as sort_orders,
            row_number() over (order by max(h.score) desc, h.page_id) as place
        from hits as h
        group by h.page_id
    ),
    neighbours as (
        select
            d.document_id,
            d.sort_order,
            p.place,
            row_number() over (
                partition by d.page_id
                order by
                    (select min(abs(d.sort_order - o)) from unnest(p.sort_orders) as o),
                    d.sort_order
            ) as nearness
        from pages as p
        join pgrag.documents as d
            on d.library_id = _expand.library_id
            and d.page_id = p.page_id
            and d.level = 2
        where p.page_id = any (_expand.best_pages)
    ),
    expanded as (
        select h.document_id, p.place, h.sort_order, h.score, 'hit' as relation
        from hits as h
        join pages as p on p.page_id = h.page_id
        union all
        select n.document_id, n.place, n.sort_order, 0.1, 'expansion'
        from neighbours as n
        where n.nearness <= _expand.max_chunks_per_document
            and n.document_id <> all (_expand.document_ids)
    )
    select p.*
    from (
        select
            array_agg(e.document_id order by e.place, e.sort_order) as ids,
            array_agg(e.relation order by e.place, e.sort_order) as relations,
            array_agg(e.score order by e.place, e.sort_order) as scores
        from expanded as e
    ) as ordered
    cross join lateral pgrag._passages(
        _expand.library_id, ordered.ids, ordered.relations, null, ordered.scores
    ) as p;
$$;
