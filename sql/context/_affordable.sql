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
