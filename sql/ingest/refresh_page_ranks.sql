-- PageRank, the importance of a page for any query: the share of time that a reader spends on it
-- who follows links at random and sometimes starts again on any page.
create or replace function pgrag.refresh_page_ranks(
    library text,
    version text default null
)
returns table (
    version_label text,
    pages integer,
    links integer,
    rounds integer,
    change double precision
)
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := (_pgrag.lock_library(refresh_page_ranks.library)).library_id;
    version_ids bigint[] := _pgrag.version_ids(owner_id, refresh_page_ranks.version);
begin
    return query
    select v.label, r.pages, r.links, r.rounds, r.change
    from pgrag.versions as v
    cross join lateral _pgrag.rank_version(owner_id, v.version_id) as r
    where v.library_id = owner_id and v.version_id = any (version_ids)
    order by v.version_id;
end;
$$;

comment on function pgrag.refresh_page_ranks is
'Recomputes the page rank and the degrees of every page of a version (null for every version) in
pgrag.page_ranks. Links are the resolved edges between two pages; the probability of following a
link is proportional to the sum of confidence times weight of kind (pgrag.edge_kinds). Damping 0.85;
a page without links leads to all pages; the ranks of a version sum to 1. Iterates
until the sum of changes is below 1e-6, at most 50 rounds (Brin, Page, WWW 1998). in_degree
counts the pages that link to a page, out_degree the pages that it links to. Returns for each
version the number of pages and of links (pairs of pages), the rounds, and the last change.
pgrag.finish_version calls this function if links have changed. Errors: PGR02, PGR03.';

-- Whether pages or links have changed since the ranks were computed; null if they never were.
create or replace function _pgrag.ranks_are_outdated(
    library_id bigint,
    version_id bigint
)
returns boolean
language sql
stable
parallel safe
as $$
    select v.ranked_links <> _pgrag.link_digest(v.library_id, v.version_id)
        or exists (
            select from pgrag.pages as p
            where p.library_id = v.library_id
                and p.version_id = v.version_id
                and not exists (
                    select from pgrag.page_ranks as r
                    where r.library_id = p.library_id and r.page_id = p.page_id
                )
        )
    from pgrag.versions as v
    where v.library_id = ranks_are_outdated.library_id
        and v.version_id = ranks_are_outdated.version_id;
$$;

-- The pages and weighted links of a version as one number. Hashes are nested, because the hash of a
-- row adds those of its columns.
create or replace function _pgrag.link_digest(
    library_id bigint,
    version_id bigint
)
returns numeric
language sql
stable
parallel safe
set jit = off
as $$
    select coalesce(sum(ranked.hash), 0)
    from (
        select hashint8extended(p.page_id, 0) as hash
        from pgrag.pages as p
        where p.library_id = link_digest.library_id and p.version_id = link_digest.version_id
        union all
        select hashint8extended(
            e.source_page_id,
            hashint8extended(
                e.target_page_id, hashfloat8extended(e.confidence * coalesce(k.weight, 1), 0)
            )
        )
        -- By pages, because the index of links has all columns but the version.
        from pgrag.pages as p
        join pgrag.edges as e on e.library_id = p.library_id and e.source_page_id = p.page_id
        left join pgrag.edge_kinds as k on k.name = e.kind
        where p.library_id = link_digest.library_id
            and p.version_id = link_digest.version_id
            and e.target_page_id <> e.source_page_id
    ) as ranked;
$$;

-- Pages and links are arrays with indexes from 1, so a round reads no table.
create or replace function _pgrag.rank_version(
    library_id bigint,
    version_id bigint,
    out pages integer,
    out links integer,
    out rounds integer,
    out change double precision
)
returns record
language plpgsql
volatile
set work_mem = '64MB'
set enable_nestloop = off
set jit = off
as $$
declare
    damping constant double precision := 0.85;
    page_ids bigint[];
    sources integer[];
    targets integer[];
    shares double precision[];
    in_degrees integer[];
    out_degrees integer[];
    ranks double precision[];
    moved double precision[];
    dangling double precision;
begin
    select coalesce(array_agg(p.page_id order by p.page_id), '{}')
    into page_ids
    from pgrag.pages as p
    where p.library_id = rank_version.library_id and p.version_id = rank_version.version_id;
    pages := cardinality(page_ids);

    with numbered as materialized (
        select u.page_id, u.nth::integer as nth
        from unnest(page_ids) with ordinality as u (page_id, nth)
    ),
    pairs as (
        select s.nth as source, t.nth as target, l.weight
        from (
            select e.source_page_id, e.target_page_id, sum(e.confidence * coalesce(k.weight, 1))
                as weight
            from pgrag.edges as e
            left join pgrag.edge_kinds as k on k.name = e.kind
            where e.library_id = rank_version.library_id
                and e.version_id = rank_version.version_id
                and e.target_page_id <> e.source_page_id
            group by e.source_page_id, e.target_page_id
            having sum(e.confidence * coalesce(k.weight, 1)) > 0
        ) as l
        join numbered as s on s.page_id = l.source_page_id
        join numbered as t on t.page_id = l.target_page_id
    ),
    shared as (
        select p.source, p.target, p.weight / sum(p.weight) over (partition by p.source) as share
        from pairs as p
    )
    select
        coalesce(array_agg(s.source order by s.target, s.source), '{}'),
        coalesce(array_agg(s.target order by s.target, s.source), '{}'),
        coalesce(array_agg(s.share order by s.target, s.source), '{}')
    into sources, targets, shares
    from shared as s;
    links := cardinality(sources);
    in_degrees := array(
        select count(l.nth)
        from generate_series(1, pages) as p (nth)
        left join unnest(targets) as l (nth) on l.nth = p.nth
        group by p.nth
        order by p.nth
    );
    out_degrees := array(
        select count(l.nth)
        from generate_series(1, pages) as p (nth)
        left join unnest(sources) as l (nth) on l.nth = p.nth
        group by p.nth
        order by p.nth
    );

    -- Not from the last ranks: they would end elsewhere within the tolerance.
    ranks := array_fill(1.0::double precision / greatest(pages, 1), array[pages]);
    rounds := 0;
    change := 1;
    while rounds < 50 and pages > 0 loop
        select coalesce(sum(r.rank), 0)
        into dangling
        from unnest(ranks, out_degrees) as r (rank, degree)
        where r.degree = 0;
        select array_agg(
            (1 - damping + damping * dangling) / pages + damping * coalesce(i.incoming, 0)
            order by p.nth
        )
        into moved
        from generate_series(1, pages) as p (nth)
        left join (
            select l.target, sum(l.share * ranks[l.source]) as incoming
            from (
                -- Not in "from", which would materialise the whole arrays first.
                select unnest(sources) as source, unnest(targets) as target, unnest(shares) as share
            ) as l
            group by l.target
        ) as i on i.target = p.nth;
        select sum(abs(r.after - r.before))
        into change
        from unnest(ranks, moved) as r (before, after);
        rounds := rounds + 1;
        exit when change < 1e-6;
        ranks := moved;
    end loop;

    insert into pgrag.page_ranks as stored (
        library_id, page_id, version_id, rank, in_degree, out_degree
    )
    select
        rank_version.library_id, r.page_id, rank_version.version_id, r.rank, r.in_degree,
        r.out_degree
    from unnest(page_ids, ranks, in_degrees, out_degrees)
        as r (page_id, rank, in_degree, out_degree)
    on conflict on constraint page_ranks_pkey do update
    set (version_id, rank, in_degree, out_degree)
        = (excluded.version_id, excluded.rank, excluded.in_degree, excluded.out_degree)
    where (stored.version_id, stored.rank, stored.in_degree, stored.out_degree)
        <> (excluded.version_id, excluded.rank, excluded.in_degree, excluded.out_degree);
    update pgrag.versions as v
    set ranked_links = _pgrag.link_digest(v.library_id, v.version_id)
    where v.library_id = rank_version.library_id and v.version_id = rank_version.version_id;
end;
$$;
