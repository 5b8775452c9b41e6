-- Rearranges the fused hits before paging. Each step runs only on request: the graph, one hit per
-- page, the hierarchy of headings, diversity, and the limit of hits per page.
create or replace function _pgrag.rearrange(
    hits _pgrag.ranked_hit[],
    request _pgrag.search_request
)
returns _pgrag.ranked_hit[]
language plpgsql
stable
parallel safe
as $$
declare
    arranged _pgrag.ranked_hit[] := hits;
begin
    if request.graph is not null then
        arranged := _pgrag.with_graph(arranged, request);
    end if;
    if request.unit = 'page' then
        arranged := _pgrag.one_hit_a_page(arranged, request.aggregate, request.rrf_k);
    end if;
    if request.hierarchy = 'overview' then
        arranged := _pgrag.overview_first(arranged);
    elsif request.hierarchy <> 'none' then
        arranged := _pgrag.by_place_in_headings(arranged, request.hierarchy);
    end if;
    if request.mmr_lambda < 1 then
        arranged := _pgrag.diversified(arranged, request);
    end if;
    return _pgrag.limited_per_page(arranged, request.max_per_page);
end;
$$;

-- The best passage represents its page. With the page's hits s1 >= s2 >= …, the score is:
--   max   s1
--   mean  (s1 + s2 + s3) / 3, or the mean of fewer hits: weak matches beyond do not lower a page
--   rrf   the sum of 1 / (k + rank in the whole list) over the page's hits, divided by the same sum
--         over all hits: the page's share of the list
create or replace function _pgrag.one_hit_a_page(
    hits _pgrag.ranked_hit[],
    aggregate text,
    rrf_k integer
)
returns _pgrag.ranked_hit[]
language sql
stable
parallel safe
as $$
    with ranked as (
        select
            h.page_id,
            h.score,
            h.ordinality as nth,
            row_number() over (partition by h.page_id order by h.ordinality) as rank_on_page,
            1.0::double precision / (one_hit_a_page.rrf_k + h.ordinality) as share
        from unnest(one_hit_a_page.hits) with ordinality as h
    ),
    pages as (
        select
            min(r.nth) as nth,
            case one_hit_a_page.aggregate
                when 'mean' then avg(r.score) filter (where r.rank_on_page <= 3)
                when 'rrf' then least(sum(r.share) / sum(sum(r.share)) over (), 1)
                else max(r.score)
            end as score
        from ranked as r
        group by r.page_id
    )
    select _pgrag.placed(
        one_hit_a_page.hits,
        array_agg(p.nth order by p.score desc, p.nth),
        array_agg(p.score order by p.score desc, p.nth)
    )
    from pages as p;
$$;

-- Every hit keeps a share of its score; preferred hits keep all of it:
--   depth    1 in the section of the best hit, 0.95 below the same root heading, 0.9 on the same
--            page, 0.85 elsewhere
--   breadth  1 / (1 + 0.15 (p + r)), at least 0.5, where p better hits are on the same page and r
--            of those are below the same root heading
-- The order within a section of a page is kept, no score rises, and scores stay between 0 and 1.
create or replace function _pgrag.by_place_in_headings(
    hits _pgrag.ranked_hit[],
    hierarchy text
)
returns _pgrag.ranked_hit[]
language sql
stable
parallel safe
as $$
    with located as (
        select
            h.ordinality as nth,
            h.page_id, h.score, d.root_section,
            case when d.level = 2 then d.parent_id else d.document_id end as section_id,
            row_number() over (partition by h.page_id order by h.ordinality) - 1
                as better_on_page,
            row_number() over (partition by h.page_id, d.root_section order by h.ordinality) - 1
                as better_below_root
        from unnest(by_place_in_headings.hits) with ordinality as h
        join pgrag.documents as d
            on d.library_id = h.library_id and d.document_id = h.document_id
    ),
    weighted as (
        select
            l.nth,
            l.score * case
                when by_place_in_headings.hierarchy = 'breadth'
                then greatest(1 / (1 + 0.15 * (l.better_on_page + l.better_below_root)), 0.5)
                when l.page_id <> b.page_id then 0.85
                when l.section_id = b.section_id then 1
                when l.root_section = b.root_section then 0.95
                else 0.9
            end as score
        from located as l
        cross join located as b
        where b.nth = 1
    )
    select _pgrag.placed(
        by_place_in_headings.hits,
        array_agg(w.nth order by w.score desc, w.nth),
        array_agg(w.score order by w.score desc, w.nth)
    )
    from weighted as w;
$$;

-- Page by page, best page first: up to three summaries or introductory passages, then up to three
-- details, both in reading order; the remaining hits follow. Scores are reassigned from the top, so
-- that they still decrease.
create or replace function _pgrag.overview_first(
    hits _pgrag.ranked_hit[]
)
returns _pgrag.ranked_hit[]
language sql
stable
parallel safe
as $$
    with located as (
        select
            h.ordinality as nth,
            min(h.ordinality) over (partition by h.page_id) as best_of_page,
            h.page_id, d.level, d.sort_order,
            d.level < 2 or d.is_summary or (d.position = 'intro' and d.depth <= 1) as is_overview
        from unnest(overview_first.hits) with ordinality as h
        join pgrag.documents as d
            on d.library_id = h.library_id and d.document_id = h.document_id
    ),
    parted as (
        select
            l.*,
            row_number() over (partition by l.page_id, l.is_overview order by l.nth) <= 3
                as is_chosen
        from located as l
    )
    select _pgrag.placed(
        overview_first.hits,
        array_agg(
            p.nth
            order by
                p.is_chosen desc,
                case when p.is_chosen then p.best_of_page else p.nth end,
                p.is_overview desc,
                case when p.is_overview then p.level end,
                p.sort_order,
                p.nth
        ),
        array(select h.score from unnest(overview_first.hits) as h order by h.score desc)
    )
    from parted as p;
$$;

-- Chooses only as many hits as the page of results needs, because each choice compares all that
-- remain. Those keep their order; no score changes.
create or replace function _pgrag.diversified(
    hits _pgrag.ranked_hit[],
    request _pgrag.search_request
)
returns _pgrag.ranked_hit[]
language plpgsql
stable
parallel safe
as $$
declare
    chosen integer[];
begin
    select _pgrag.diverse_places(
        array_agg(h.library_id order by h.ordinality),
        array_agg(h.document_id order by h.ordinality),
        array_agg(q.model_id order by h.ordinality),
        array_agg(h.score order by h.ordinality),
        request.mmr_lambda,
        least(
            case when request.max_per_page is null
                then coalesce(request.after_place, 0) + request.top_k end,
            200
        )
    )
    into chosen
    from unnest(hits[:1000]) with ordinality as h
    left join unnest(request.queries) as q on q.library_id = h.library_id;
    return _pgrag.placed(
        hits,
        chosen || array(
            select nth
            from generate_subscripts(hits, 1) as nth
            where nth <> all (chosen)
            order by nth
        ),
        null
    );
end;
$$;

-- The hits at these positions, in this order, with these scores (null: their own).
create or replace function _pgrag.placed(
    hits _pgrag.ranked_hit[],
    positions bigint[],
    scores double precision[]
)
returns _pgrag.ranked_hit[]
language sql
immutable
parallel safe
as $$
    select array(
        select row(
            h.library_id, h.document_id, h.page_id, coalesce(p.score, h.score), h.keyword_score,
            h.semantic_score, h.passage_score, h.page_score, h.keyword_rank, h.semantic_rank,
            h.section_score, h.hybrid_score, h.graph, h.confidence, h.better_on_page,
            case when placed.scores is null then h.steps else h.steps || h.score end
        )::_pgrag.ranked_hit
        from unnest(placed.positions, placed.scores) with ordinality as p (nth, score, new_nth)
        join unnest(placed.hits) with ordinality as h on h.ordinality = p.nth
        order by p.new_nth
    );
$$;
