-- Computes the targets of edges, stored or new; returns those that differ from the given ones.
-- Equal links of one page (names: of one folder) are resolved once. The planner cannot estimate the
-- rows of each step: "offset 0" forces lookups by key, row by row; all other joins must not be
-- nested loops.
create or replace function _pgrag.connections(
    library_id bigint,
    version_id bigint,
    base_url text,
    edges pgrag.edges[]
)
returns table (
    edge_id bigint,
    state text,
    how text,
    target_page_id bigint,
    target_document_id bigint,
    fragment_found boolean,
    candidates bigint[]
)
language sql
stable
parallel safe
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
    with chosen as materialized (
        select
            e.edge_id, e.source_page_id, e.target, e.rule, e.fragment, e.name,
            row(
                e.state, e.how, e.target_page_id, e.target_document_id, e.fragment_found,
                e.candidates
            ) as stored
        from unnest(connections.edges) as e
    ),
    -- An edge that a page type adds to a link has the target of that link.
    added as (
        select distinct l.source_page_id, l.target
        from (
            select distinct c.source_page_id from chosen as c where c.rule like 'edge\_defaults:%'
        ) as c
        cross join lateral (
            select e.source_page_id, e.target
            from pgrag.edges as e
            where e.library_id = connections.library_id
                and e.source_page_id = c.source_page_id
                and e.rule = 'explicit:link'
            offset 0
        ) as l
        union
        select c.source_page_id, c.target
        from chosen as c
        where c.rule = 'explicit:link'
            and c.source_page_id in (
                select d.source_page_id from chosen as d where d.rule like 'edge\_defaults:%'
            )
    ),
    sources as materialized (
        select
            p.page_id, p.folder, p.key,
            min(p.page_id) over (partition by p.folder) as folder_page_id,
            _pgrag.link_name(
                _pgrag.relative_url(regexp_replace(p.url, '[?#].*$', ''), connections.base_url)
            ) as url
        from (select distinct c.source_page_id from chosen as c) as c
        cross join lateral (
            select
                p.page_id, p.url, p.key, _pgrag.folder_name(_pgrag.link_name(p.key)) as folder
            from pgrag.pages as p
            where p.library_id = connections.library_id and p.page_id = c.source_page_id
            offset 0
        ) as p
    ),
    links as materialized (
        select
            c.*, k.is_address,
            -- A name means the same on all pages of a folder, so one page stands for all of them.
            case when k.is_address then s.page_id else s.folder_page_id end as asking_page_id
        from chosen as c
        join sources as s on s.page_id = c.source_page_id
        left join added as a on a.source_page_id = c.source_page_id and a.target = c.target
        cross join lateral (
            select c.rule = 'explicit:link'
                or (c.rule like 'edge\_defaults:%' and a.target is not null) as is_address
        ) as k
    ),
    questions as materialized (
        select
            row_number() over () as question, q.*, s.folder, s.url, s.key,
            _pgrag.link_address(q.target, q.is_address, connections.base_url) as address
        from (select distinct l.asking_page_id, l.target, l.is_address, l.name from links as l) as q
        join sources as s on s.page_id = q.asking_page_id
    ),
    answers as (
        select a.*
        from (
            select
                array_agg(q.question) as questions, array_agg(q.address) as addresses,
                array_agg(q.is_address) as are_addresses, array_agg(q.name) as names,
                array_agg(q.folder) as folders, array_agg(q.url) as urls,
                array_agg(q.target) as targets, array_agg(q.key) as keys
            from questions as q
            where q.name <> '#'
        ) as q
        cross join lateral _pgrag.pages_meant(
            connections.library_id, connections.version_id, q.questions, q.addresses,
            q.are_addresses, q.names, q.folders, q.urls, q.targets, q.keys
        ) as a
    ),
    connected as materialized (
        select
            l.edge_id, l.stored, nullif(l.fragment, '') as fragment,
            case
                when l.name = '#' or cardinality(a.page_ids) = 1 then 'resolved'
                when cardinality(a.page_ids) > 1 then 'ambiguous'
                else _pgrag.unconnected(q.address, l.is_address, l.name)
            end as state,
            case
                when l.name = '#' then 'self'
                when cardinality(a.page_ids) = 1 then a.how
            end as how,
            case
                when l.name = '#' then l.source_page_id
                when cardinality(a.page_ids) = 1 then a.page_ids[1]
            end as target_page_id,
            -- A few candidates explain the ambiguity; a common name would store thousands per link.
            case when cardinality(a.page_ids) > 1 then a.page_ids[:100] end as candidates
        from links as l
        join questions as q
            on q.asking_page_id = l.asking_page_id
            and q.target = l.target
            and q.is_address = l.is_address
            and q.name = l.name
        left join answers as a on a.question = q.question
    ),
    fragments as (
        select f.*
        from (
            select array_agg(c.target_page_id) as page_ids, array_agg(c.fragment) as fragments
            from (
                select distinct c.target_page_id, c.fragment
                from connected as c
                where c.target_page_id is not null and c.fragment is not null
            ) as c
        ) as asked
        cross join lateral _pgrag.find_fragments(
            connections.library_id, asked.page_ids, asked.fragments
        ) as f
    )
    select c.edge_id, c.state, c.how, c.target_page_id, f.document_id, f.is_found, c.candidates
    from connected as c
    left join fragments as f on f.page_id = c.target_page_id and f.fragment = c.fragment
    where row(c.state, c.how, c.target_page_id, f.document_id, f.is_found, c.candidates)
        is distinct from c.stored;
$$;

-- The pages that links mean, and how each matches. folders, urls, keys: of the page with the link;
-- targets: as written. Of the pages with a matching name the first of the ways below wins, then one
-- that is written like the link, then the nearest folder. No row for a link that matches no page.
create or replace function _pgrag.pages_meant(
    library_id bigint,
    version_id bigint,
    questions bigint[],
    addresses text[],
    are_addresses boolean[],
    names text[],
    folders text[],
    urls text[],
    targets text[],
    keys text[]
)
returns table (
    question bigint,
    page_ids bigint[],
    how text
)
language sql
stable
parallel safe
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
    -- Addresses match paths and urls before names; names (wikilinks) match files and titles before
    -- urls.
    with ways (way, of_address, of_name) as (
        values
            ('path from folder', 1, 1),
            ('path from root', 2, 2),
            ('url', 3, 7),
            ('end of path', 4, 3),
            ('end of url', 5, 8),
            ('file name', 6, 3),
            ('title', 7, 4),
            ('alias', 8, 5),
            ('slug', 9, 6)
    ),
    asked as materialized (
        select
            q.question, q.name, q.is_address, q.folder, q.target, q.key, w.is_external, w.written,
            w.ending, w.is_absolute, w.ending not like '%/%' and not w.is_absolute as is_bare,
            w.written ~ '^\.\.?(/|$)' as is_dotted,
            _pgrag.without_dots(w.written) as from_root,
            _pgrag.without_dots(ltrim(r.folder || '/' || w.written, '/')) as from_folder,
            _pgrag.without_dots(ltrim(r.url || '/' || w.written, '/')) as from_url,
            _pgrag.without_dots(ltrim(_pgrag.folder_name(r.url) || '/' || w.written, '/'))
                as beside_url
        from unnest(
            pages_meant.questions, pages_meant.addresses, pages_meant.are_addresses,
            pages_meant.names, pages_meant.folders, pages_meant.urls, pages_meant.targets,
            pages_meant.keys
        ) as q (question, address, is_address, name, folder, url, target, key)
        cross join lateral (
            select
                a.*,
                starts_with(q.address, '/') and not a.is_external as is_absolute,
                -- The part that must match the end of a path.
                regexp_replace(a.written, '^(\.\.?/)+', '') as ending
            from (
                select
                    _pgrag.leads_away(q.address, q.is_address) as is_external,
                    _pgrag.link_name(
                        regexp_replace(q.address, '^\s*([A-Za-z][A-Za-z0-9+.-]*:)?//', '')
                    ) as written
                offset 0
            ) as a
        ) as w
        -- What a relative address starts from.
        left join lateral (select q.folder, case when q.is_address then q.url end as url) as r
            on not (w.is_external or w.is_absolute)
    ),
    matches as (
        select
            q.question, n.page_id, q.is_address,
            case
                when n.how = 'path' and q.is_bare and (not q.is_address or w.way = 'file name')
                then 'name'
                else n.how
            end as how,
            w.way,
            -- The start of the address may be unknown to pgrag: the longest matching end wins.
            case when w.way = 'end of url' then -length(n.full_name) else 0 end as shortness
        from asked as q
        -- A name that climbs ("..") is looked up by the last name of the resulting path.
        cross join lateral unnest(
            case
                when q.name <> '..' then array[q.name]
                else array(
                    select distinct _pgrag.last_name(form)
                    from unnest(array[q.from_folder, q.from_url, q.beside_url]) as form
                )
            end
        ) as k (name)
        cross join lateral (
            select n.page_id, n.how, n.full_name
            from pgrag.page_names as n
            where n.library_id = pages_meant.library_id
                and n.version_id = pages_meant.version_id
                and n.name = k.name
            offset 0
        ) as n
        cross join lateral (
            select case
                when q.is_external
                then case when n.how = 'url' and n.full_name = q.from_root then 'url' end
                when n.how = 'path' then case
                    when n.full_name = q.from_folder then 'path from folder'
                    when n.full_name = q.from_root and (q.is_address or q.ending like '%/%')
                    then 'path from root'
                    when q.is_address and q.is_dotted then null
                    when n.full_name = q.ending
                        or right(n.full_name, length(q.ending) + 1) = '/' || q.ending
                    then case when q.is_bare then 'file name' else 'end of path' end
                end
                when n.how = 'url' then case
                    when n.full_name in (q.from_root, q.from_url, q.beside_url) then 'url'
                    when q.is_absolute
                        and n.full_name <> ''
                        and right(q.from_root, length(n.full_name) + 1) = '/' || n.full_name
                    then 'end of url'
                end
                when q.is_absolute or q.is_dotted and q.is_address then null
                when n.full_name in (q.written, q.ending) then n.how
            end as way
            offset 0
        ) as w
        where w.way is not null
    ),
    best as (
        select
            m.question, m.page_id, min(m.how) as how,
            count(*) over (partition by m.question) as page_count
        from (
            select
                m.*,
                rank() over (
                    partition by m.question
                    order by
                        case when m.is_address then w.of_address else w.of_name end, m.shortness
                ) as nth
            from matches as m
            join ways as w on w.way = m.way
        ) as m
        where m.nth = 1
        group by m.question, m.page_id
    ),
    nearest as (
        select
            b.question, b.page_id, b.how,
            rank() over (
                partition by b.question
                order by d.likeness desc, d.shared desc, d.extra, d.shared_as_written desc
            ) as nth
        from best as b
        join asked as q on q.question = b.question
        left join lateral (
            select c.*
            from _pgrag.page_closeness(
                pages_meant.library_id, b.page_id, b.how, q.target, q.is_address, q.folder, q.key
            ) as c
            where b.page_count > 1
            offset 0
        ) as d on true
    )
    select n.question, array_agg(n.page_id order by n.page_id), min(n.how)
    from nearest as n
    where n.nth = 1
    group by n.question;
$$;
