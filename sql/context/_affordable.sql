-- Which passages fit into the budget, by position. The two best hits come first; then, for the
-- share share_beside of the budget, the paragraphs beside them, nearest first, because an answer
-- often goes on there. Then hits (with parents) and injected passages take turns, best first,
-- whatever their page; then what is around them, of the best page and nearest to its hits first. A
-- passage that does not fit is skipped; the first is always taken.
create or replace function _pgrag.affordable(
    passages pgrag.passage[],
    sizes integer[],
    token_budget integer,
    share_beside double precision default 0.5
)
returns boolean[]
language plpgsql
immutable
parallel safe
as $$
declare
    fits boolean[] := array_fill(false, array[cardinality(passages)]);
    spent bigint := 0;
    spent_beside bigint := 0;
    entry record;
begin
    for entry in
        with given as (
            select
                u.relation, u.score, u.distance, u.page_id, u.sort_order, u.level,
                u.ordinality as nth,
                u.relation not in ('hit', 'injected', 'parent') as is_around,
                max(u.score) over (partition by u.page_id) as page_score
            from unnest(passages) with ordinality as u
        ),
        listed as (
            select
                g.*,
                row_number() over (
                    partition by g.is_around, g.relation = 'injected'
                    order by
                        case when g.is_around then g.page_score else g.score end desc,
                        g.distance, g.page_id, g.sort_order
                ) as turn
            from given as g
        ),
        beside as (
            select
                l.nth,
                -- Of equally near ones what is beside the better hit first, what follows before
                -- what precedes.
                min(
                    4 * abs(l.sort_order - h.sort_order) + 2 * (h.turn - 1)
                        + case when l.sort_order < h.sort_order then 1 else 0 end
                ) as distance
            from listed as h
            join listed as l
                on l.page_id = h.page_id
                and l.level = 2
                and l.nth <> h.nth
                and abs(l.sort_order - h.sort_order) <= _pgrag.reach_beside()
            where h.relation = 'hit' and h.turn <= 2
            group by l.nth
        )
        select
            l.nth, false as is_beside,
            case when l.is_around then 3 when l.turn > 2 then 2 else 0 end as step,
            l.turn as place, l.relation = 'injected' as is_injected
        from listed as l
        union all
        select b.nth, true, 1, b.distance, false
        from beside as b
        order by step, place, is_injected, nth
    loop
        continue when fits[entry.nth]
            or entry.is_beside
            and spent_beside + sizes[entry.nth] > token_budget * share_beside;
        if spent = 0 or spent + sizes[entry.nth] <= token_budget then
            fits[entry.nth] := true;
            spent := spent + sizes[entry.nth];
            if entry.is_beside then
                spent_beside := spent_beside + sizes[entry.nth];
            end if;
        end if;
    end loop;
    return fits;
end;
$$;

-- How far from a hit on its page a paragraph stands beside it. Chosen with the shares on the open
-- half of the labelled questions and the tasks about Jest and cert-manager, see
-- docs/navigation-and-context.md.
create or replace function _pgrag.reach_beside()
returns integer
language sql
immutable
parallel safe
as $$
    select 4;
$$;
