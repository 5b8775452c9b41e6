-- Turns passages into text. Passages over the budget are left out whole. Hits and injected
-- passages are taken in turn, best first, whatever their page; then what is around them, of the
-- best page and nearest to its hits first.
create or replace function _pgrag.format_context(
    passages pgrag.passage[],
    format text,
    overlap boolean,
    token_budget integer
)
returns setof pgrag.context_block
language sql
stable
parallel safe
rows 30
as $$
    with reading as (
        select
            p.*,
            max(p.score) over (partition by p.page_id) as page_score,
            ceil(octet_length(p.content) / 4.0)::integer + 28 as size,
            case when p.path[1] = p.title then p.path else p.title || p.path end as breadcrumbs
        from unnest(format_context.passages) as p
    ),
    placed as (
        select
            r.*,
            a.is_around,
            row_number() over (
                partition by r.relation in ('hit', 'parent'), r.relation = 'injected'
                order by
                    case when a.is_around then r.page_score else r.score end desc,
                    r.distance,
                    r.page_id,
                    r.sort_order
            ) as turn
        from reading as r
        cross join lateral (
            select r.relation not in ('hit', 'injected', 'parent') as is_around
        ) as a
    ),
    ranked as (
        select
            p.*,
            row_number() over (order by p.is_around, p.turn, p.relation = 'injected') as rank
        from placed as p
    ),
    affordable as (
        select r.*
        from ranked as r
        cross join (
            select _pgrag.affordable(
                array_agg(s.size order by s.rank), format_context.token_budget
            ) as fits
            from ranked as s
        ) as choice
        where choice.fits[r.rank]
    ),
    ordered as (
        select
            a.*,
            lag(a.sort_order) over page_order as sort_order_before,
            lag(a.level) over page_order as level_before,
            lag(a.root_section) over page_order as root_before,
            row_number() over page_order = 1 as opens_page,
            row_number() over (order by a.page_score desc, a.page_id, a.sort_order) as nth
        from affordable as a
        window page_order as (partition by a.page_id order by a.sort_order)
    ),
    blocks as (
        select
            o.*,
            concat(
                case
                    when format_context.format = 'simple'
                    then format(
                        E'[%s] %s (relevance %s, %s)\n',
                        o.nth,
                        array_to_string(o.breadcrumbs, ' › '),
                        round(o.score::numeric, 2),
                        o.url || case when o.anchor <> '' then '#' || o.anchor else '' end
                    )
                    when o.opens_page or o.root_before is distinct from o.root_section
                    then format(
                        E'## %s (%s)\n',
                        concat_ws(
                            ' › ', o.title, nullif(nullif(o.root_section, ''), o.title)
                        ),
                        o.url
                    )
                end,
                case
                    when format_context.format = 'grouped' and o.heading <> ''
                        and o.heading <> o.root_section
                    then format(E'### %s\n', o.heading)
                end,
                case
                    when format_context.format = 'grouped'
                    then format(
                        E'[relevance %s, level %s]\n', round(o.score::numeric, 2), o.heading_level
                    )
                end,
                case
                    when format_context.overlap and o.overlap <> ''
                        and o.sort_order_before is distinct from o.sort_order - 1
                    then '… ' || o.overlap || ' '
                end,
                o.content
            ) as block
        from ordered as o
    )
    select
        b.document_id, b.page_id, b.library, b.version, b.url, b.title, b.path, b.content, b.score,
        b.relation, ceil(octet_length(b.block) / 4.0)::integer, b.block, null::text,
        null::double precision
    from blocks as b
    order by b.nth;
$$;

-- Which of the sizes, by priority, fit into the budget. A size that does not fit is skipped; later
-- ones may still fit. The first is taken even if it exceeds the budget.
create or replace function _pgrag.affordable(
    sizes integer[],
    token_budget integer
)
returns boolean[]
language plpgsql
immutable
parallel safe
as $$
declare
    fits boolean[] := '{}';
    spent bigint := 0;
    size integer;
begin
    foreach size in array coalesce(affordable.sizes, '{}') loop
        fits := fits || (spent = 0 or spent + size <= affordable.token_budget);
        if fits[cardinality(fits)] then
            spent := spent + size;
        end if;
    end loop;
    return fits;
end;
$$;
