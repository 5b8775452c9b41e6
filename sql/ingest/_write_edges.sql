-- Replaces the edges of pages by those that wait in pending_pages; returns how many are new. An
-- edge with the same rule, kind, target and fragment keeps its id, and its target page until links
-- are resolved, even if its position changed.
create or replace function _pgrag.write_edges(
    library_id bigint,
    version_id bigint,
    base_url text,
    page_ids bigint[]
)
returns bigint
language sql
volatile
-- The plan of a first run, made when there are few edges, would read all of them in each batch.
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
    with placed as materialized (
        select p.* from _pgrag.sent_edges(write_edges.library_id, write_edges.page_ids) as p
    ),
    stored as (
        select
            e.*,
            row_number() over (
                partition by e.source_page_id, e.rule, e.kind, e.target, e.fragment
                order by e.place
            ) as occurrence
        from pgrag.edges as e
        where e.library_id = write_edges.library_id
            and e.source_page_id = any (write_edges.page_ids)
    ),
    pairs as materialized (
        select
            s.edge_id,
            row(s.source_document_id, s.confidence, s.place, s.line, s.link_text, s.sentence)
                as stored,
            p.*
        from stored as s
        full join placed as p
            on p.page_id = s.source_page_id
            and p.rule = s.rule
            and p.kind = s.kind
            and p.target = s.target
            and coalesce('#' || p.fragment, '') = coalesce('#' || s.fragment, '')
            and p.occurrence = s.occurrence
    ),
    gone as (
        delete from pgrag.edges as e
        where e.library_id = write_edges.library_id
            and e.source_page_id = any (write_edges.page_ids)
            and e.edge_id in (select p.edge_id from pairs as p where p.page_id is null)
    ),
    kept as (
        update pgrag.edges as e
        set (source_document_id, confidence, place, line, link_text, sentence)
            = (p.document_id, p.confidence, p.place, p.line, p.link_text, p.sentence)
        from pairs as p
        where e.library_id = write_edges.library_id
            and e.source_page_id = any (write_edges.page_ids)
            and e.edge_id = p.edge_id
            and p.page_id is not null
            and row(p.document_id, p.confidence, p.place, p.line, p.link_text, p.sentence)
                is distinct from p.stored
    ),
    new_edges as materialized (
        select p.*, row_number() over (order by p.page_id, p.place) as nth
        from pairs as p
        where p.edge_id is null
    ),
    -- Many links have the same target, and names are costly.
    addresses as materialized (
        select
            a.target, a.is_address,
            case
                when a.address = '' then '#'
                -- The target depends on the page that the link is on.
                when a.name in ('.', '..') or (a.name = '' and not starts_with(a.address, '/'))
                then '..'
                else a.name
            end as name,
            _pgrag.unconnected(a.address, a.is_address, a.name) as state
        from (
            select c.*, l.address, _pgrag.last_name(_pgrag.link_name(l.address)) as name
            from (select distinct c.target, c.is_address from new_edges as c) as c
            cross join lateral (
                select _pgrag.link_address(c.target, c.is_address, write_edges.base_url) as address
                offset 0
            ) as l
            offset 0
        ) as a
    ),
    fresh as materialized (
        select
            row(
                write_edges.library_id,
                (select _pgrag.take_ids(write_edges.library_id, count(*)) from new_edges) + p.nth,
                write_edges.version_id, p.page_id, p.document_id, null, null, p.confidence,
                p.place, p.line, case when p.rule = 'tag' then 'tag' else a.state end, null,
                p.rule, p.kind, p.target, p.fragment, null,
                case when p.rule = 'tag' then right(lower(p.target), 300) else a.name end,
                p.link_text, p.sentence, null
            )::pgrag.edges as edge
        from new_edges as p
        join addresses as a on a.target = p.target and a.is_address = p.is_address
    ),
    connected as (
        select c.*
        from (
            select array_agg(f.edge) as edges from fresh as f where (f.edge).state <> 'tag'
        ) as f
        cross join lateral _pgrag.connections(
            write_edges.library_id, write_edges.version_id, write_edges.base_url, f.edges
        ) as c
    ),
    inserted as (
        insert into pgrag.edges (
            library_id, edge_id, version_id, source_page_id, source_document_id, confidence, place,
            line, state, how, rule, kind, target, fragment, name, link_text, sentence,
            target_page_id, target_document_id, fragment_found, candidates
        )
        select
            e.library_id, e.edge_id, e.version_id, e.source_page_id, e.source_document_id,
            e.confidence, e.place, e.line, coalesce(c.state, e.state), c.how, e.rule, e.kind,
            e.target, e.fragment, e.name, e.link_text, e.sentence, c.target_page_id,
            c.target_document_id, c.fragment_found, c.candidates
        from fresh as f
        cross join lateral (select (f.edge).*) as e
        left join connected as c on c.edge_id = e.edge_id
        order by e.source_page_id, e.place
        returning edge_id
    )
    select count(*) from inserted;
$$;

-- The edges that wait in pending_pages, with their passages; `occurrence` tells equal ones of a
-- page apart.
create or replace function _pgrag.sent_edges(
    library_id bigint,
    page_ids bigint[]
)
returns table (
    page_id bigint,
    place integer,
    rule text,
    kind text,
    confidence real,
    target text,
    fragment text,
    link_text text,
    sentence text,
    line integer,
    is_address boolean,
    occurrence bigint,
    document_id bigint
)
language sql
stable
parallel safe
as $$
    with incoming as materialized (
        select
            w.page_id, e.ordinality::integer - 1 as place,
            coalesce(nullif(btrim(e.rule), ''), 'explicit:link') as rule,
            coalesce(nullif(btrim(e.kind), ''), 'references') as kind,
            coalesce(e.confidence, 1) as confidence, btrim(coalesce(e.target, '')) as target,
            e.fragment, e.document, coalesce(e.text, '') as link_text,
            coalesce(e.sentence, '') as sentence, coalesce(e.line, 0) as line
        from pgrag.pending_pages as w
        cross join lateral rows from (
            jsonb_to_recordset(w.edges) as (
                rule text, kind text, confidence real, target text, fragment text, text text,
                sentence text, line integer, document integer
            )
        ) with ordinality as e
        where w.library_id = sent_edges.library_id
            and w.page_id = any (sent_edges.page_ids)
            and _pgrag.target_fault(e.target, e.rule) is null
    ),
    numbered as (
        select
            i.*,
            -- An edge that a page type adds to a link has the target of that link.
            i.rule = 'explicit:link' or (
                i.rule like 'edge\_defaults:%'
                and bool_or(i.rule = 'explicit:link') over (partition by i.page_id, i.target)
            ) as is_address,
            row_number() over (
                partition by i.page_id, i.rule, i.kind, i.target, i.fragment
                order by i.place
            ) as occurrence
        from incoming as i
    )
    select
        n.page_id, n.place, n.rule, n.kind, n.confidence, n.target, n.fragment, n.link_text,
        n.sentence, n.line, n.is_address, n.occurrence,
        coalesce(d.document_id, lined.document_id)
    from numbered as n
    left join pgrag.documents as d
        on d.library_id = sent_edges.library_id and d.page_id = n.page_id
        -- Without nested loops, this alone keeps the join from reading every passage.
        and d.page_id = any (sent_edges.page_ids)
        and d.sort_order = n.document
    -- Of an edge that does not name its passage: the deepest, last passage that spans its line.
    left join (
        select distinct on (n.page_id, n.line) n.page_id, n.line, d.document_id
        from (
            select distinct n.page_id, n.line
            from numbered as n
            where n.document is null and n.line > 0
        ) as n
        join pgrag.documents as d
            on d.library_id = sent_edges.library_id
            and d.page_id = n.page_id
            and d.page_id = any (sent_edges.page_ids)
            and n.line between d.line_start and d.line_end
        order by n.page_id, n.line, d.level desc, d.sort_order desc
    ) as lined on n.document is null and lined.page_id = n.page_id and lined.line = n.line;
$$;

-- The state of an edge without a target page.
create or replace function _pgrag.unconnected(
    address text,
    is_address boolean,
    name text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when _pgrag.leads_away(unconnected.address, unconnected.is_address) then 'external'
        when _pgrag.names_asset(unconnected.name) then 'asset'
        else 'unresolved'
    end;
$$;
