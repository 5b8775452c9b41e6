-- What stands around a page, or around several, as far as links reach in so many steps.
create or replace function pgrag.neighbourhood(
    inout page_id bigint,
    inout depth integer default 1,
    kinds text[] default null,
    direction text default 'both',
    fan_out integer default 50,
    total integer default 500,
    page_ids bigint[] default '{}',
    out key text,
    out title text,
    out url text,
    out weight double precision,
    out via_page_id bigint,
    out via_page text,
    out edge_id bigint,
    out edge_count bigint,
    out forward boolean,
    out kind text,
    out line integer,
    out sentence text,
    out path bigint[]
)
returns setof record
language plpgsql
stable
parallel safe
rows 500
set search_path from current
as $$
#variable_conflict use_column
declare
    start pgrag.pages := pgrag._page(
        coalesce(neighbourhood.page_id, neighbourhood.page_ids[1])
    );
    start_ids bigint[] := array_remove(start.page_id || neighbourhood.page_ids, null);
begin
    perform pgrag._check_direction(neighbourhood.direction);
    perform pgrag._check_range('depth', neighbourhood.depth, 1, 10);
    perform pgrag._check_range('fan_out', neighbourhood.fan_out, 1, 1000);
    perform pgrag._check_range('total', neighbourhood.total, 1, 10000);
    perform pgrag._require_one_library(start, neighbourhood.page_ids);

    return query
    with recursive reached as materialized (
        select n.*
        from pgrag._neighbourhood(
            start.library_id, start_ids, neighbourhood.depth, neighbourhood.kinds,
            neighbourhood.direction, neighbourhood.fan_out, neighbourhood.total
        ) as n
    ),
    ways as (
        select s.page_id, array[s.page_id] as path
        from (select distinct unnest(start_ids)) as s (page_id)
        union all
        select r.page_id, w.path || r.page_id
        from ways as w
        join reached as r on r.via_page_id = w.page_id
    )
    select
        r.page_id, r.depth, p.key, p.title, p.url, r.weight, r.via_page_id, via.key, r.edge_id,
        r.edge_count, r.forward, e.kind, e.line, e.sentence, w.path
    from reached as r
    join ways as w on w.page_id = r.page_id
    cross join lateral pgrag._page_named(start.library_id, r.page_id) as p
    cross join lateral pgrag._page_named(start.library_id, r.via_page_id) as via
    join pgrag.edges as e on e.library_id = start.library_id and e.edge_id = r.edge_id
    order by r.depth, r.weight desc, r.page_id;
end;
$$;

comment on function pgrag.neighbourhood(bigint, integer, text[], text, integer, integer, bigint[]) is
'The pages that are reached from a page (with page_ids, from these as well) by resolved edges in at
most depth steps (1 to 10), each once, by its shortest way and of those the strongest; the nearest
and strongest first. direction: out follows links, in goes back along them, both does both. kinds:
only edges of these (null: all; a kind that no edge has finds nothing). An edge weighs its
confidence times the weight of its kind (pgrag.edge_kinds; 1 where it has none); weight is the
product over the way. From each page the fan_out strongest neighbours are taken, total pages in
all. via_page_id, edge_id, kind, line and sentence tell of the last step: the page and the edge (the
strongest of edge_count) by which the page was reached, forward whether the edge leads there or
back; path holds the ids of the whole way. Errors: PGR01, PGR04.';

create or replace function pgrag._check_direction(
    direction text
)
returns void
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    if (direction in ('in', 'out', 'both')) is not true then
        raise exception 'There is no direction %.', quote_nullable(direction)
            using errcode = 'PGR01', hint = 'Use in, out or both.';
    end if;
end;
$$;

create or replace function pgrag._check_range(
    argument text,
    value double precision,
    least_value double precision,
    greatest_value double precision
)
returns void
language plpgsql
immutable
parallel safe
set search_path from current
as $$
begin
    if (value between least_value and greatest_value) is not true then
        raise exception '% must be between % and %, got %.',
            argument, least_value, greatest_value, coalesce(value::text, 'null')
            using errcode = 'PGR01';
    end if;
end;
$$;

-- Edges stay within a version; where pages of two libraries are named, one of them is a mistake.
create or replace function pgrag._require_one_library(
    start pgrag.pages,
    page_ids bigint[]
)
returns void
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    other pgrag.pages;
begin
    select o.*
    into other
    from unnest(page_ids) as wanted (page_id)
    cross join lateral pgrag._page(wanted.page_id) as o
    where wanted.page_id is not null
        and (o.library_id <> (start).library_id or o.version_id <> (start).version_id)
    limit 1;
    if other.page_id is not null then
        raise exception 'Pages % and % belong to different versions or libraries.',
            (start).page_id, other.page_id
            using errcode = 'PGR01', hint = 'Links connect pages of one version.';
    end if;
end;
$$;
