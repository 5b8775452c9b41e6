-- Which pages of a version matter, whatever is asked: a reader who follows links at random, and
-- now and then begins anew anywhere, is on a page for so much of the time (PageRank).
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
    owner_id bigint := pgrag._library_id(refresh_page_ranks.library);
    only_version bigint := case
        when refresh_page_ranks.version is not null
        then pgrag._version_id(owner_id, refresh_page_ranks.version)
    end;
    ranked record;
begin
    -- Like everything that writes: one after the other.
    perform l.library_id
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;
    for ranked in
        select v.version_id, v.label
        from pgrag.versions as v
        where v.library_id = owner_id
            and (only_version is null or v.version_id = only_version)
        order by v.version_id
    loop
        version_label := ranked.label;
        select r.pages, r.links, r.rounds, r.change
        into pages, links, rounds, change
        from pgrag._rank_version(owner_id, ranked.version_id) as r;
        return next;
    end loop;
end;
$$;

comment on function pgrag.refresh_page_ranks(text, text) is
'Computes the page rank of every page of a version (null: of every version) anew, and its degrees,
into pgrag.page_ranks. Links are the resolved edges between two pages; from a page each is followed
with a probability in proportion to the sum of confidence times weight of kind (pgrag.edge_kinds).
Damping 0.85; a page without links leads everywhere; the ranks of a version sum to 1. Repeated until
the ranks change by less than 1e-6 in sum, at most 50 rounds (Brin, Page, WWW 1998). in_degree and
out_degree count the pages that link here and that are linked. Returns for each version the number
of pages and of links (pairs of pages), the rounds, and the last change. pgrag.finish_version calls
it where links have changed. Errors: PGR02, PGR03.';

-- Whether a page has come, or is linked from or links to another number of pages than when it was
-- ranked.
create or replace function pgrag._ranks_are_outdated(
    library_id bigint,
    version_id bigint
)
returns boolean
language sql
stable
parallel safe
set search_path from current
set work_mem = '64MB'
set jit = off
as $$
    -- What is there counts up, what is stored counts down: one grouping, however many there are.
    with pairs as materialized (
        select distinct e.source_page_id, e.target_page_id
        from pgrag.edges as e
        left join pgrag.edge_kinds as k on k.name = e.kind
        where e.library_id = _ranks_are_outdated.library_id
            and e.version_id = _ranks_are_outdated.version_id
            and e.target_page_id <> e.source_page_id
            and coalesce(k.weight, 1) > 0
    ),
    degrees as (
        select p.target_page_id as page_id, 1 as in_degree, 0 as out_degree, 0 as ranks
        from pairs as p
        union all
        select p.source_page_id, 0, 1, 0 from pairs as p
        union all
        select p.page_id, 0, 0, 1
        from pgrag.pages as p
        where p.library_id = _ranks_are_outdated.library_id
            and p.version_id = _ranks_are_outdated.version_id
        union all
        select r.page_id, -r.in_degree, -r.out_degree, -1
        from pgrag.page_ranks as r
        where r.library_id = _ranks_are_outdated.library_id
            and r.version_id = _ranks_are_outdated.version_id
    )
    select exists (
        select
        from degrees as d
        group by d.page_id
        having sum(d.in_degree) <> 0 or sum(d.out_degree) <> 0 or sum(d.ranks) <> 0
    );
$$;

-- Pages and links are arrays, numbered from 1, so that a round reads no table.
create or replace function pgrag._rank_version(
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
set search_path from current
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
    where p.library_id = _rank_version.library_id and p.version_id = _rank_version.version_id;
    pages := cardinality(page_ids);

    with places as materialized (
        select u.page_id, u.place::integer as place
        from unnest(page_ids) with ordinality as u (page_id, place)
    ),
    pairs as (
        select s.place as source, t.place as target, l.weight
        from (
            select e.source_page_id, e.target_page_id, sum(e.confidence * coalesce(k.weight, 1))
                as weight
            from pgrag.edges as e
            left join pgrag.edge_kinds as k on k.name = e.kind
            where e.library_id = _rank_version.library_id
                and e.version_id = _rank_version.version_id
                and e.target_page_id <> e.source_page_id
            group by e.source_page_id, e.target_page_id
            having sum(e.confidence * coalesce(k.weight, 1)) > 0
        ) as l
        join places as s on s.page_id = l.source_page_id
        join places as t on t.page_id = l.target_page_id
    ),
    shared as (
        select p.source, p.target, p.weight / sum(p.weight) over (partition by p.source) as share
        from pairs as p
    )
    select
        coalesce(array_agg(s.source order by s.target, s.source), '{}'),
        coalesce(array_agg(s.target order by s.target, s.source), '{}'),
        coalesce(array_agg(s.share order by s.target, s.source), '{}'),
        array(
            select coalesce(d.degree, 0)
            from places as p
            left join (select target, count(*)::integer as degree from shared group by target) as d
                on d.target = p.place
            order by p.place
        ),
        array(
            select coalesce(d.degree, 0)
            from places as p
            left join (select source, count(*)::integer as degree from shared group by source) as d
                on d.source = p.place
            order by p.place
        )
    into sources, targets, shares, in_degrees, out_degrees
    from shared as s;
    links := cardinality(sources);

    ranks := array_fill(1.0::double precision / greatest(pages, 1), array[pages]);
    rounds := 0;
    change := 1;
    while rounds < 50 and change >= 1e-6 and pages > 0 loop
        select coalesce(sum(r.rank), 0)
        into dangling
        from unnest(ranks, out_degrees) as r (rank, degree)
        where r.degree = 0;
        select array_agg(
            (1 - damping + damping * dangling) / pages + damping * coalesce(i.incoming, 0)
            order by p.place
        )
        into moved
        from generate_series(1, pages) as p (place)
        left join (
            select l.target, sum(l.share * ranks[l.source]) as incoming
            from (
                -- Not in "from", where all would be stored before the first is used.
                select
                    unnest(sources) as source, unnest(targets) as target, unnest(shares) as share
            ) as l
            group by l.target
        ) as i on i.target = p.place;
        select sum(abs(r.after - r.before))
        into change
        from unnest(ranks, moved) as r (before, after);
        ranks := moved;
        rounds := rounds + 1;
    end loop;

    insert into pgrag.page_ranks as stored (
        library_id, page_id, version_id, rank, in_degree, out_degree
    )
    select
        _rank_version.library_id, r.page_id, _rank_version.version_id, r.rank, r.in_degree,
        r.out_degree
    from unnest(page_ids, ranks, in_degrees, out_degrees)
        as r (page_id, rank, in_degree, out_degree)
    on conflict on constraint page_ranks_pkey do update
    set rank = excluded.rank, in_degree = excluded.in_degree, out_degree = excluded.out_degree
    where (stored.rank, stored.in_degree, stored.out_degree)
        is distinct from (excluded.rank, excluded.in_degree, excluded.out_degree);
end;
$$;
