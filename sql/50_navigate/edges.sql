-- The edges themselves: of a version or around one page, with what they connect.
create or replace function pgrag.edges(
    library text,
    version text default null,
    page_id bigint default null,
    direction text default 'both',
    kinds text[] default null,
    structure boolean default false,
    states text[] default null,
    rules text[] default null,
    match_count integer default 1000,
    after bigint default null
)
returns table (
    edge_id bigint,
    source_page_id bigint,
    source_page text,
    source_title text,
    source_document_id bigint,
    section text,
    line integer,
    target text,
    fragment text,
    fragment_found boolean,
    target_page_id bigint,
    target_page text,
    target_title text,
    target_document_id bigint,
    rule text,
    kind text,
    confidence real,
    state text,
    how text,
    link_text text,
    sentence text
)
language plpgsql
stable
parallel safe
rows 100
set search_path from current
as $$
#variable_conflict use_column
declare
    owner_id bigint := pgrag._library_id(edges.library);
    wanted_version bigint;
    edge_ids bigint[];
begin
    perform pgrag._check_direction(edges.direction);
    perform pgrag._check_range('match_count', edges.match_count, 1, 1000000);
    if edges.page_id is null then
        if edges.structure then
            raise exception 'structure needs a page_id.'
                using errcode = 'PGR01',
                    hint = 'The order of documents and the tree of pages are told page by page.';
        end if;
        wanted_version := (
            select r.version_id from pgrag.resolve_version(edges.library, edges.version) as r
        );
        edge_ids := array(
            select e.edge_id
            from pgrag.edges as e
            where e.library_id = owner_id
                and e.version_id = wanted_version
                and (edges.kinds is null or e.kind = any (edges.kinds))
                and (edges.states is null or e.state = any (edges.states))
                and (edges.rules is null or e.rule = any (edges.rules))
                and e.edge_id > coalesce(edges.after, 0)
            order by e.edge_id
            limit edges.match_count
        );
    else
        perform pgrag._require_library(edges.page_id, owner_id, edges.library);
        edge_ids := array(
            select e.edge_id
            from pgrag.edges as e
            where e.library_id = owner_id
                and (
                    (edges.direction <> 'in' and e.source_page_id = edges.page_id)
                    or (edges.direction <> 'out' and e.target_page_id = edges.page_id)
                )
                and (edges.kinds is null or e.kind = any (edges.kinds))
                and (edges.states is null or e.state = any (edges.states))
                and (edges.rules is null or e.rule = any (edges.rules))
                and e.edge_id > coalesce(edges.after, 0)
            order by e.edge_id
            limit edges.match_count
        );
    end if;
    return query
    select
        e.edge_id, e.source_page_id, s.key, s.title, e.source_document_id,
        array_to_string(d.path, ' / '), e.line, e.target, e.fragment, e.fragment_found,
        e.target_page_id, t.key, t.title, e.target_document_id, e.rule, e.kind, e.confidence,
        e.state, e.how, e.link_text, e.sentence
    from unnest(edge_ids) with ordinality as wanted (edge_id, place)
    join pgrag.edges as e on e.library_id = owner_id and e.edge_id = wanted.edge_id
    cross join lateral pgrag._page_named(owner_id, e.source_page_id) as s
    left join lateral (
        select d.path
        from pgrag.documents as d
        where d.library_id = owner_id and d.document_id = e.source_document_id
        offset 0
    ) as d on true
    left join lateral pgrag._page_named(owner_id, e.target_page_id) as t on true
    order by wanted.place;

    if edges.structure and edges.after is null then
        return query
        select
            null::bigint, p.page_id, p.key, p.title, o.source_id, array_to_string(d.path, ' / '),
            d.line_start, t.key, null, null::boolean, t.page_id, t.key, t.title, o.target_id,
            'structure', o.kind, 1::real, 'resolved', 'path', '', ''
        from pgrag._structure(owner_id, edges.page_id) as o
        join pgrag.documents as d on d.library_id = owner_id and d.document_id = o.source_id
        join pgrag.pages as p on p.library_id = owner_id and p.page_id = d.page_id
        join pgrag.documents as other
            on other.library_id = owner_id and other.document_id = o.target_id
        join pgrag.pages as t on t.library_id = owner_id and t.page_id = other.page_id
        where (edges.kinds is null or o.kind = any (edges.kinds))
            and (edges.direction <> 'in' or t.page_id = edges.page_id)
            and (edges.direction <> 'out' or p.page_id = edges.page_id)
            and (edges.states is null or 'resolved' = any (edges.states))
            and (edges.rules is null or 'structure' = any (edges.rules))
        order by p.page_id = edges.page_id desc, p.key, d.sort_order, o.kind;
    end if;
end;
$$;

comment on function pgrag.edges(text, text, bigint, text, text[], boolean, text[], text[], integer, bigint) is
'The edges of one version of a library (see resolve_version), or of one page of it: direction out
are those on the page, in those that lead to it. kinds (links_to, embeds, depends_on …), states
(resolved, unresolved, ambiguous, external, asset, tag) and rules (explicit:wikilink, inline:rel …)
narrow them; what no edge has finds nothing. section is the path of the document that the edge
stands in; target and fragment are as written, the target''s page and document null where nothing
is found. At most match_count, by edge_id; after: the edge_id to go on from. structure also gives
what is not stored, after the others and without edge_id: belongs_to (a document to its section, a
page to the page above), next and prev (between paragraphs). Errors: PGR01, PGR02, PGR03, PGR04.';

create or replace function pgrag._require_library(
    page_id bigint,
    library_id bigint,
    library text
)
returns void
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    if (pgrag._page(page_id)).library_id <> _require_library.library_id then
        raise exception 'Page % is not of library %.',
            page_id, quote_literal(lower(btrim(library)))
            using errcode = 'PGR04', hint = 'Take the page_id of pgrag.find_page.';
    end if;
end;
$$;

-- One probe of the index for each edge, however few pages the planner takes a library to have.
create or replace function pgrag._page_named(
    library_id bigint,
    wanted_id bigint
)
returns table (
    page_id bigint,
    key text,
    title text,
    url text
)
language sql
stable
parallel safe
rows 1
as $$
    select p.page_id, p.key, p.title, p.url
    from pgrag.pages as p
    where p.library_id = _page_named.library_id and p.page_id = _page_named.wanted_id
    offset 0;
$$;

-- What the tree of documents and the tree of pages say about one page.
create or replace function pgrag._structure(
    library_id bigint,
    page_id bigint
)
returns table (
    source_id bigint,
    target_id bigint,
    kind text
)
language sql
stable
parallel safe
set search_path from current
as $$
    with documents as (
        select d.document_id, d.parent_id, d.level, d.sort_order
        from pgrag.documents as d
        where d.library_id = _structure.library_id and d.page_id = _structure.page_id
    ),
    paragraphs as (
        select d.document_id, lead(d.document_id) over (order by d.sort_order) as next_id
        from documents as d
        where d.level = 2
    ),
    here as (
        select p.*
        from pgrag.pages as p
        where p.library_id = _structure.library_id and p.page_id = _structure.page_id
    )
    select d.document_id, d.parent_id, 'belongs_to'
    from documents as d
    where d.parent_id is not null
    union all
    select p.document_id, p.next_id, 'next'
    from paragraphs as p
    where p.next_id is not null
    union all
    select p.next_id, p.document_id, 'prev'
    from paragraphs as p
    where p.next_id is not null
    union all
    select
        pgrag._page_document(h.library_id, h.page_id),
        pgrag._page_document(h.library_id, above.page_id),
        'belongs_to'
    from here as h
    cross join lateral pgrag._parent_page(h) as above (page_id)
    where above.page_id is not null
    union all
    select
        pgrag._page_document(h.library_id, below.page_id),
        pgrag._page_document(h.library_id, h.page_id),
        'belongs_to'
    from here as h
    cross join lateral unnest(pgrag._child_pages(h)) as below (page_id);
$$;
