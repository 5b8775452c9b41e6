-- Passages as text: whole, in reading order, as far as they fit into the budget.
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
            case when p.path[1] = p.title then p.path else p.title || p.path end as breadcrumbs
        from unnest(format_context.passages) with ordinality as p
    ),
    affordable as (
        select r.*
        from reading as r
        where (
            select _pgrag.affordable(
                format_context.passages,
                -- With the heading of its block.
                array_agg(ceil(octet_length(p.content) / 4.0)::integer + 28 order by p.ordinality),
                format_context.token_budget
            )
            from unnest(format_context.passages) with ordinality as p
        )[r.ordinality]
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
                        concat_ws(' › ', o.title, nullif(nullif(o.root_section, ''), o.title)),
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

-- Which passages fit into the budget, by position. Hits (with parents) and injected passages take
-- turns, best first, whatever their page; then what is around them, of the best page and nearest to
-- its hits first. A passage that does not fit is skipped; the first is always taken.
create or replace function _pgrag.affordable(
    passages pgrag.passage[],
    sizes integer[],
    token_budget integer
)
returns boolean[]
language plpgsql
immutable
parallel safe
as $$
declare
    fits boolean[] := array_fill(false, array[cardinality(passages)]);
    spent bigint := 0;
    nth bigint;
begin
    for nth in
        select t.nth
        from (
            select
                p.*,
                row_number() over (
                    partition by p.is_around, p.relation = 'injected'
                    order by
                        case when p.is_around then p.page_score else p.score end desc,
                        p.distance, p.page_id, p.sort_order
                ) as turn
            from (
                select
                    u.relation, u.score, u.distance, u.page_id, u.sort_order, u.ordinality as nth,
                    u.relation not in ('hit', 'injected', 'parent') as is_around,
                    max(u.score) over (partition by u.page_id) as page_score
                from unnest(passages) with ordinality as u
            ) as p
        ) as t
        order by t.is_around, t.turn, t.relation = 'injected'
    loop
        if spent = 0 or spent + sizes[nth] <= token_budget then
            fits[nth] := true;
            spent := spent + sizes[nth];
        end if;
    end loop;
    return fits;
end;
$$;
