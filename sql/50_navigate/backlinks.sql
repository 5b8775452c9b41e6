-- Who links here, and in what words: what a page is known for elsewhere.
create or replace function pgrag.backlinks(
    page_id bigint,
    kinds text[] default null,
    match_count integer default 1000
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
#variable_conflict use_column
declare
    here pgrag.pages := pgrag._page(backlinks.page_id);
begin
    perform pgrag._check_range('match_count', backlinks.match_count, 1, 1000000);
    return query
    with found as materialized (
        select e.*, p.key, p.title, p.url, e.confidence * coalesce(k.weight, 1) as weight
        from pgrag.edges as e
        cross join lateral pgrag._page_named(e.library_id, e.source_page_id) as p
        left join pgrag.edge_kinds as k on k.name = e.kind
        where e.library_id = here.library_id
            and e.target_page_id = here.page_id
            and e.source_page_id <> here.page_id
            and (backlinks.kinds is null or e.kind = any (backlinks.kinds))
        order by weight desc, p.key, e.place, e.edge_id
        limit backlinks.match_count
    )
    select
        f.edge_id, f.source_page_id, f.key, f.title, f.url, f.source_document_id,
        array_to_string(d.path, ' / '), d.anchor, f.line, f.rule, f.kind, f.confidence,
        f.link_text, f.sentence, f.fragment, f.target_document_id
    from found as f
    left join lateral (
        select d.path, d.anchor
        from pgrag.documents as d
        where d.library_id = here.library_id and d.document_id = f.source_document_id
        offset 0
    ) as d on true
    order by f.weight desc, f.key, f.place, f.edge_id;
end;
$$;

comment on function pgrag.backlinks(bigint, text[], integer) is
'The edges of other pages that lead to a page, one row an edge: the page that links (source_page_id,
key, title, url), the document, section and line where it does, with which words (link_text) and in
which sentence, by which rule and kind; fragment and target_document_id where it names a part of the
page. The strongest first (confidence times weight of the kind), then by key and place; at most
match_count; kinds: only these. Errors: PGR01, PGR04.';
