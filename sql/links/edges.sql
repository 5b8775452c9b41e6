create or replace function pgrag.edges(
    library text,
    version text default null,
    page_id anycompatible default null::text,
    direction text default 'both',
    kinds text[] default null,
    structure boolean default false,
    states text[] default null,
    rules text[] default null,
    top_k integer default 1000,
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
-- A plan for all edges of a version does not suit one page, and vice versa.
set plan_cache_mode = force_custom_plan
as $$
declare
    owner_id bigint := _pgrag.library_id(edges.library);
    of_page_id constant bigint := pgrag.page_id(edges.page_id::text);
    wanted_version bigint;
begin
    perform _pgrag.check_choice('direction', edges.direction, '{in, out, both}');
    perform _pgrag.check_range('top_k', edges.top_k, 1, 1000000);
    if of_page_id is null then
        if edges.structure then
            raise exception 'structure needs a page_id.'
                using errcode = 'PGR01',
                    hint = 'The order of passages and the tree of pages are derived page by page.';
        end if;
        wanted_version := (pgrag.resolve_version(edges.library, edges.version)).version_id;
    elsif (_pgrag.page(of_page_id)).library_id <> owner_id then
        raise exception 'Page % is not of library %.',
            of_page_id, quote_literal(lower(btrim(edges.library)))
            using errcode = 'PGR04', hint = 'Take the page_id of pgrag.find_page.';
    end if;
    return query
    with listed as materialized (
        select e.*
        from pgrag.edges as e
        where e.library_id = owner_id
            and (of_page_id is not null or e.version_id = wanted_version)
            and (
                of_page_id is null
                or (edges.direction <> 'in' and e.source_page_id = of_page_id)
                or (edges.direction <> 'out' and e.target_page_id = of_page_id)
            )
            and (edges.kinds is null or e.kind = any (edges.kinds))
            and (edges.states is null or e.state = any (edges.states))
            and (edges.rules is null or e.rule = any (edges.rules))
            and e.edge_id > coalesce(edges.after, 0)
        order by e.edge_id
        limit edges.top_k
    )
    select
        e.edge_id, e.source_page_id, s.key, s.title, e.source_document_id,
        array_to_string(d.path, ' / '), e.line, e.target, e.fragment, e.fragment_found,
        e.target_page_id, t.key, t.title, e.target_document_id, e.rule, e.kind, e.confidence,
        e.state, e.how, e.link_text, e.sentence
    from listed as e
    cross join lateral _pgrag.page_named(owner_id, e.source_page_id) as s
    left join lateral (
        select d.path
        from pgrag.documents as d
        where d.library_id = owner_id and d.document_id = e.source_document_id
        offset 0
    ) as d on true
    left join lateral _pgrag.page_named(owner_id, e.target_page_id) as t on true
    order by e.edge_id;
    if not found and not edges.structure then
        perform _pgrag.notice_unknown_kinds(owner_id, edges.kinds);
    end if;

    if edges.structure and edges.after is null then
        -- The relations of the page in the trees of passages and pages.
        return query
        with neighbours as (
            select
                d.document_id, d.parent_id,
                case when d.level = 2 then lead(d.document_id) over page_order end as next_id,
                case when d.level = 2 then lag(d.document_id) over page_order end as previous_id
            from pgrag.documents as d
            where d.library_id = owner_id and d.page_id = of_page_id
            window page_order as (partition by d.level order by d.sort_order)
        ),
        pages as (
            select
                _pgrag.page_document(owner_id, p.page_id) as document_id,
                _pgrag.page_document(owner_id, _pgrag.parent_page(p)) as parent_id,
                _pgrag.child_page_documents(p) as child_ids
            from pgrag.pages as p
            where p.library_id = owner_id and p.page_id = of_page_id
        ),
        relations as materialized (
            select n.document_id as source_id, r.target_id, r.kind
            from neighbours as n
            cross join lateral (
                values (n.parent_id, 'belongs_to'), (n.next_id, 'next'), (n.previous_id, 'prev')
            ) as r (target_id, kind)
            union all
            select p.document_id, p.parent_id, 'belongs_to' from pages as p
            union all
            select unnest(p.child_ids), p.document_id, 'belongs_to' from pages as p
        )
        select
            null::bigint, p.page_id, p.key, p.title, o.source_id, array_to_string(d.path, ' / '),
            d.line_start, t.key, null, null::boolean, t.page_id, t.key, t.title, o.target_id,
            'structure', o.kind, 1::real, 'resolved', 'path', '', ''
        from relations as o
        join pgrag.documents as d on d.library_id = owner_id and d.document_id = o.source_id
        join pgrag.pages as p on p.library_id = owner_id and p.page_id = d.page_id
        join pgrag.documents as other
            on other.library_id = owner_id and other.document_id = o.target_id
        join pgrag.pages as t on t.library_id = owner_id and t.page_id = other.page_id
        where (edges.kinds is null or o.kind = any (edges.kinds))
            and (edges.direction <> 'in' or t.page_id = of_page_id)
            and (edges.direction <> 'out' or p.page_id = of_page_id)
            and (edges.states is null or 'resolved' = any (edges.states))
            and (edges.rules is null or 'structure' = any (edges.rules))
        order by p.page_id = of_page_id desc, p.key, d.sort_order, o.kind;
    end if;
end;
$$;

comment on function pgrag.edges is
'The edges of one version of a library (see resolve_version), or of one page of the version:
direction out selects edges on the page, in edges to the page. kinds (references, embeds, depends_on
…), states (resolved, unresolved, ambiguous, external, asset, tag) and rules (explicit:wikilink,
inline:rel …) filter the edges; a value that no edge has matches nothing. section is the path of the
passage that contains the edge; target and fragment are as written; the target''s page and passage
are null if unresolved. At most top_k, by edge_id; after: the last edge_id already seen. structure
appends relations that are not stored, without edge_id: belongs_to (a passage to its section, a page
to its parent), next and prev (between paragraphs). Errors: PGR01, PGR02, PGR03, PGR04.';

-- One index probe per edge, even if the planner underestimates the pages of a library.
create or replace function _pgrag.page_named(
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
    where p.library_id = page_named.library_id and p.page_id = page_named.wanted_id
    offset 0;
$$;
