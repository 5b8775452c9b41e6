create or replace function pgrag.backlinks(
    page_id anycompatible,
    kinds text[] default null,
    top_k integer default 1000
)
returns table (
    edge_id bigint,
    source_page_id bigint,
    key text,
    title text,
    url text,
    document_id bigint,
    section text,
    anchor text,
    line integer,
    rule text,
    kind text,
    confidence real,
    link_text text,
    sentence text,
    fragment text,
    target_document_id bigint
)
language plpgsql
stable
parallel safe
rows 20
set search_path from current
as $$
declare
    here pgrag.pages := _pgrag.page(pgrag.page_id(backlinks.page_id::text));
begin
    perform _pgrag.check_range('top_k', backlinks.top_k, 1, 1000000);
    return query
    with strongest as materialized (
        select e.*, p.key, p.title, p.url, e.confidence * coalesce(k.weight, 1) as weight
        from pgrag.edges as e
        cross join lateral _pgrag.page_named(e.library_id, e.source_page_id) as p
        left join pgrag.edge_kinds as k on k.name = e.kind
        where e.library_id = here.library_id
            and e.target_page_id = here.page_id
            and e.source_page_id <> here.page_id
            and (backlinks.kinds is null or e.kind = any (backlinks.kinds))
        order by weight desc, p.key, e.place, e.edge_id
        limit backlinks.top_k
    )
    select
        f.edge_id, f.source_page_id, f.key, f.title, f.url, f.source_document_id,
        array_to_string(d.path, ' / '), d.anchor, f.line, f.rule, f.kind, f.confidence,
        f.link_text, f.sentence, f.fragment, f.target_document_id
    from strongest as f
    left join lateral (
        select d.path, d.anchor
        from pgrag.documents as d
        where d.library_id = here.library_id and d.document_id = f.source_document_id
        offset 0
    ) as d on true
    order by f.weight desc, f.key, f.place, f.edge_id;
    if not found then
        perform _pgrag.notice_unknown_kinds(here.library_id, backlinks.kinds);
    end if;
end;
$$;

comment on function pgrag.backlinks is
'The edges from other pages to a page, one row an edge: the linking page (source_page_id, key,
title, url), the passage, section and line of the link, its words (link_text) and sentence, its rule
and kind; fragment and target_document_id if the link names a part of the page. The strongest edges
(confidence times weight of the kind) come first, then by key and position; at most top_k; kinds:
only these. Errors: PGR01, PGR04.';
