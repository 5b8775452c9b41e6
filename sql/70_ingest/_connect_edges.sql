-- Equal links of one page (names: of one folder) are one question. Its answers are the pages that
-- have one of the names it can mean; the best kind of name wins, then the nearest folder. How many
-- there will be, the planner cannot know: tables are looked up by key (lateral), the rest may not
-- be nested loops.
create or replace function pgrag._connect_edges(
    library_id bigint,
    version_id bigint,
    base_url text,
    edge_ids bigint[]
)
returns bigint
language sql
volatile
set search_path from current
set enable_nestloop = off
set jit = off
as $$
    with updated as (
        update pgrag.edges as e
        set state = c.state,
            how = c.how,
            target_page_id = c.target_page_id,
            target_document_id = c.target_document_id,
            fragment_found = c.fragment_found,
            candidates = c.candidates
        from pgrag._connections(
            _connect_edges.library_id,
            _connect_edges.version_id,
            _connect_edges.base_url,
            _connect_edges.edge_ids
        ) as c
        where e.library_id = _connect_edges.library_id
            and e.edge_id = any (_connect_edges.edge_ids)
            and e.edge_id = c.edge_id
            and (
                e.state, e.how, e.target_page_id, e.target_document_id, e.fragment_found,
                e.candidates
            ) is distinct from (
                c.state, c.how, c.target_page_id, c.target_document_id, c.fragment_found,
                c.candidates
            )
        returning e.edge_id
    )
    select count(*) from updated;
$$;

-- Where edges lead, whatever is stored of that.
create or replace function pgrag._connections(
    library_id bigint,
    version_id bigint,
    base_url text,
    edge_ids bigint[]
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
set search_path from current
set enable_nestloop = off
set jit = off
as $$
    with chosen as materialized (
        select e.edge_id, e.source_page_id, e.target, e.rule, e.fragment, e.name
        from pgrag.edges as e
        where e.library_id = _connections.library_id
            and e.edge_id = any (_connections.edge_ids)
    ),
    -- What a type adds to a link leads where the link leads.
    added as (
        select distinct l.source_page_id, l.target
        from (
            select distinct c.source_page_id from chosen as c where c.rule like 'edge\_defaults:%'
        ) as c
        cross join lateral (
            select e.source_page_id, e.target
            from pgrag.edges as e
            where e.library_id = _connections.library_id
                and e.source_page_id = c.source_page_id
                and e.rule = 'explicit:link'
            offset 0
        ) as l
    ),
    links as materialized (
        select
            c.*,
            c.rule = 'explicit:link'
                or (c.rule like 'edge\_defaults:%' and a.target is not null) as is_address
        from chosen as c
        left join added as a on a.source_page_id = c.source_page_id and a.target = c.target
    ),
    sources as materialized (
        select
            p.page_id,
            p.folder,
            min(p.page_id) over (partition by p.folder) as folder_page_id,
            pgrag._link_name(
                pgrag.relative_url(
                    regexp_replace(p.url, '[?#].*$', ''), _connections.base_url
                )
            ) as url
        from (select distinct l.source_page_id from links as l) as l
        cross join lateral (
            select
                p.page_id, p.url, pgrag._folder_name(pgrag._link_name(p.key)) as folder
            from pgrag.pages as p
            where p.library_id = _connections.library_id and p.page_id = l.source_page_id
            offset 0
        ) as p
    ),
    addresses as materialized (
        select
            row_number() over () as question,
            q.*,
            pgrag._link_address(q.target, q.is_address, _connections.base_url) as address
        from (
            -- A name means the same on all pages of a folder: one of them asks for all.
            select distinct
                case when l.is_address then s.page_id else s.folder_page_id end as source_page_id,
                l.target,
                l.is_address,
                l.name
            from links as l
            join sources as s on s.page_id = l.source_page_id
        ) as q
    ),
    questions as materialized (
        select
            a.question,
            a.source_page_id,
            a.name,
            a.is_address,
            s.folder,
            w.is_external,
            starts_with(a.address, '/') and not w.is_external as is_absolute,
            w.written,
            w.written ~ '^\.\.?(/|$)' as is_dotted,
            -- What any path can end with.
            regexp_replace(w.written, '^(\.\.?/)+', '') as ending,
            pgrag._without_dots(w.written) as from_root,
            case
                when not (w.is_external or starts_with(a.address, '/'))
                then pgrag._without_dots(ltrim(s.folder || '/' || w.written, '/'))
            end as from_folder,
            case
                when not (w.is_external or starts_with(a.address, '/')) and a.is_address
                then pgrag._without_dots(ltrim(s.url || '/' || w.written, '/'))
            end as from_url,
            case
                when not (w.is_external or starts_with(a.address, '/')) and a.is_address
                then pgrag._without_dots(
                    ltrim(pgrag._folder_name(s.url) || '/' || w.written, '/')
                )
            end as beside_url
        from addresses as a
        join sources as s on s.page_id = a.source_page_id
        cross join lateral (
            select
                pgrag._leads_away(a.address, a.is_address) as is_external,
                pgrag._link_name(
                    regexp_replace(a.address, '^\s*([A-Za-z][A-Za-z0-9+.-]*:)?//', '')
                ) as written
            offset 0
        ) as w
        where a.name <> '#'
    ),
    matches as (
        select distinct on (q.question, n.page_id)
            q.question,
            n.page_id,
            r.rank,
            case
                when n.how <> 'path' then n.how
                when q.ending not like '%/%' and not q.is_absolute
                    and (r.rank = 6000 or not q.is_address)
                then 'name'
                else 'path'
            end as how
        from questions as q
        cross join lateral unnest(
            case
                when q.name <> '..' then array[q.name]
                else array(
                    select distinct pgrag._last_name(form)
                    from unnest(array[q.from_folder, q.from_url, q.beside_url]) as form
                )
            end
        ) as looked_up (name)
        cross join lateral (
            select n.page_id, n.how, n.full_name
            from pgrag.page_names as n
            where n.library_id = _connections.library_id
                and n.version_id = _connections.version_id
                and n.name = looked_up.name
            offset 0
        ) as n
        cross join lateral (
            select case
                when q.is_external
                then case when n.how = 'url' and n.full_name = q.from_root then 3000 end
                when n.how = 'path' then case
                    when n.full_name = q.from_folder then 1000
                    when n.full_name = q.from_root and (q.is_address or q.ending like '%/%')
                    then 2000
                    when q.is_address and q.is_dotted then null
                    when n.full_name = q.ending
                        or right(n.full_name, length(q.ending) + 1) = '/' || q.ending
                    then case
                        when not q.is_address then 3000
                        when q.ending like '%/%' or q.is_absolute then 4000
                        else 6000
                    end
                end
                when n.how = 'url' then case
                    when n.full_name in (q.from_root, q.from_url, q.beside_url)
                    then case when q.is_address then 3000 else 10000 end
                    -- Below a part of the address that pgrag does not know: the longest wins.
                    when q.is_absolute
                        and n.full_name <> ''
                        and right(q.from_root, length(n.full_name) + 1) = '/' || n.full_name
                    then case when q.is_address then 6000 else 12000 end - length(n.full_name)
                end
                when q.is_absolute or q.is_dotted and q.is_address then null
                when n.full_name not in (q.written, q.ending) then null
                when n.how = 'title' then 7000
                when n.how = 'alias' then 8000
                else 9000
            end as rank
            offset 0
        ) as r
        where r.rank is not null
        order by q.question, n.page_id, r.rank, n.how
    ),
    best as (
        select m.*, count(*) over (partition by m.question) as page_count
        from (
            select m.*, rank() over (partition by m.question order by m.rank) as place
            from matches as m
        ) as m
        where m.place = 1
    ),
    nearest as (
        select
            b.question,
            b.page_id,
            b.how,
            rank() over (
                partition by b.question
                order by d.shared desc, d.extra
            ) as place
        from best as b
        join questions as q on q.question = b.question
        left join lateral (
            select d.*
            from pgrag.pages as p
            cross join lateral pgrag._folder_distance(
                q.folder, pgrag._folder_name(pgrag._link_name(p.key))
            ) as d
            where b.page_count > 1
                and p.library_id = _connections.library_id
                and p.page_id = b.page_id
            offset 0
        ) as d on true
    ),
    answers as (
        select
            n.question,
            array_agg(n.page_id order by n.page_id) as page_ids,
            min(n.how) as how
        from nearest as n
        where n.place = 1
        group by n.question
    ),
    connected as materialized (
        select
            l.edge_id,
            nullif(l.fragment, '') as fragment,
            case
                when l.name = '#' then 'resolved'
                when cardinality(a.page_ids) = 1 then 'resolved'
                when cardinality(a.page_ids) > 1 then 'ambiguous'
                else pgrag._unconnected(q.address, l.is_address, l.name)
            end as state,
            case
                when l.name = '#' then 'self'
                when cardinality(a.page_ids) = 1 then a.how
            end as how,
            case
                when l.name = '#' then l.source_page_id
                when cardinality(a.page_ids) = 1 then a.page_ids[1]
            end as target_page_id,
            -- A few say what is meant; thousands of one name would be kept once for each link.
            case when cardinality(a.page_ids) > 1 then a.page_ids[:100] end as candidates
        from links as l
        join sources as s on s.page_id = l.source_page_id
        join addresses as q
            on q.source_page_id
                = case when l.is_address then s.page_id else s.folder_page_id end
            and q.target = l.target
            and q.is_address = l.is_address
            and q.name = l.name
        left join answers as a on a.question = q.question
    ),
    fragments as (
        select f.*
        from (
            select
                array_agg(c.target_page_id) as page_ids,
                array_agg(c.fragment) as fragments
            from (
                select distinct c.target_page_id, c.fragment
                from connected as c
                where c.target_page_id is not null and c.fragment is not null
            ) as c
        ) as asked
        cross join lateral pgrag._find_fragments(
            _connections.library_id, asked.page_ids, asked.fragments
        ) as f
    )
    select
        c.edge_id, c.state, c.how, c.target_page_id, f.document_id, f.is_found, c.candidates
    from connected as c
    left join fragments as f on f.page_id = c.target_page_id and f.fragment = c.fragment;
$$;
