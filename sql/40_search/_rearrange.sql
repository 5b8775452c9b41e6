-- What happens to the fused hits before they are counted off, each step only where it was asked
-- for: what links say, one hit a page, the place in the headings, difference from the hits before,
-- so many a page.
create or replace function pgrag._rearrange(
    hits pgrag.ranked_hit[],
    request pgrag.search_request
)
returns pgrag.ranked_hit[]
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    arranged pgrag.ranked_hit[] := hits;
begin
    if request.graph is not null then
        arranged := pgrag._with_graph(arranged, request);
    end if;
    if request.unit = 'page' then
        arranged := pgrag._one_hit_a_page(arranged, request.aggregate, request.rrf_k);
    end if;
    if request.hierarchy = 'overview' then
        arranged := pgrag._overview_first(arranged);
    elsif request.hierarchy <> 'none' then
        arranged := pgrag._by_place_in_headings(arranged, request.hierarchy);
    end if;
    if request.mmr_lambda < 1 then
        arranged := pgrag._diversified(arranged, request);
    end if;
    if request.max_per_page is not null then
        arranged := pgrag._at_most_a_page(arranged, request.max_per_page);
    end if;
    return arranged;
end;
$$;

-- The best document of a page stands for it. The score is, over the page's hits s1 >= s2 >= …:
--   max   s1
--   mean  (s1 + s2 + s3) / 3, or the mean of those there are: a page is not punished for what else
--         it holds that fits a little, as it would be by the mean of all its hits
--   rrf   the sum of 1 / (k + rank) over its hits, rank counted in the whole list, divided by the
--         sum over the whole list: the share of the list that is the page's, so at most 1
create or replace function pgrag._one_hit_a_page(
    hits pgrag.ranked_hit[],
    aggregate text,
    rrf_k integer
)
returns pgrag.ranked_hit[]
language sql
stable
parallel safe
set search_path from current
as $$
    with ranked as (
        select
            h.page_id,
            h.document_id,
            h.score,
            h.ordinality as place,
            row_number() over (partition by h.page_id order by h.ordinality) as place_on_page,
            1.0::double precision / (_one_hit_a_page.rrf_k + h.ordinality) as share
        from unnest(_one_hit_a_page.hits) with ordinality as h
    ),
    pages as (
        select
            min(r.place) as place,
            min(r.document_id) filter (where r.place_on_page = 1) as document_id,
            case _one_hit_a_page.aggregate
                when 'mean' then avg(r.score) filter (where r.place_on_page <= 3)
                when 'rrf' then least(sum(r.share) / sum(sum(r.share)) over (), 1)
                else max(r.score)
            end as score
        from ranked as r
        group by r.page_id
    )
    select pgrag._placed(
        _one_hit_a_page.hits,
        coalesce(array_agg(p.place order by p.score desc, p.document_id), '{}'),
        array_agg(p.score order by p.score desc, p.document_id)
    )
    from pages as p;
$$;

-- Every hit keeps a share of its score; the share is 1 for the hits that are preferred:
--   depth    1 in the section of the best hit, 0.95 below the same root heading, 0.9 on the same
--            page, 0.85 elsewhere
--   breadth  1 / (1 + 0.15 (p + r)), at least 0.5, where p better hits are of the same page and r
--            of them below the same root heading
-- So the order within a page's section stays, no score rises, and none leaves 0 to 1.
create or replace function pgrag._by_place_in_headings(
    hits pgrag.ranked_hit[],
    hierarchy text
)
returns pgrag.ranked_hit[]
language sql
stable
parallel safe
set search_path from current
as $$
    with located as (
        select
            h.ordinality as place,
            h.document_id,
            h.page_id,
            h.score,
            d.root_section,
            case when d.level = 2 then d.parent_id else d.document_id end as section_id,
            row_number() over (partition by h.page_id order by h.ordinality) - 1
                as better_on_page,
            row_number() over (partition by h.page_id, d.root_section order by h.ordinality) - 1
                as better_below_root
        from unnest(_by_place_in_headings.hits) with ordinality as h
        join pgrag.documents as d
            on d.library_id = h.library_id and d.document_id = h.document_id
    ),
    weighted as (
        select
            l.place,
            l.document_id,
            l.score * case
                when _by_place_in_headings.hierarchy = 'breadth'
                then greatest(1 / (1 + 0.15 * (l.better_on_page + l.better_below_root)), 0.5)
                when l.page_id <> b.page_id then 0.85
                when l.section_id = b.section_id then 1
                when l.root_section = b.root_section then 0.95
                else 0.9
            end as score
        from located as l
        cross join located as b
        where b.place = 1
    )
    select pgrag._placed(
        _by_place_in_headings.hits,
        coalesce(array_agg(w.place order by w.score desc, w.document_id), '{}'),
        array_agg(w.score order by w.score desc, w.document_id)
    )
    from weighted as w;
$$;

-- Page after page, the best first: up to three of its summaries and of its opening, then up to
-- three of its details, both in reading order; what is left comes behind, the best first. The
-- scores of the list are dealt out anew from the top, so that they still say the order.
create or replace function pgrag._overview_first(
    hits pgrag.ranked_hit[]
)
returns pgrag.ranked_hit[]
language sql
stable
parallel safe
set search_path from current
as $$
    with located as (
        select
            h.ordinality as place,
            min(h.ordinality) over (partition by h.page_id) as page_place,
            h.page_id,
            d.level,
            d.sort_order,
            d.level < 2 or d.is_summary or (d.position = 'intro' and d.depth <= 1) as is_overview
        from unnest(_overview_first.hits) with ordinality as h
        join pgrag.documents as d
            on d.library_id = h.library_id and d.document_id = h.document_id
    ),
    parted as (
        select
            l.*,
            row_number() over (partition by l.page_id, l.is_overview order by l.place) <= 3
                as is_chosen
        from located as l
    )
    select pgrag._placed(
        _overview_first.hits,
        coalesce(
            array_agg(
                p.place
                order by
                    p.is_chosen desc,
                    case when p.is_chosen then p.page_place else p.place end,
                    p.is_overview desc,
                    case when p.is_overview then p.level end,
                    p.sort_order,
                    p.place
            ),
            '{}'
        ),
        array(select h.score from unnest(_overview_first.hits) as h order by h.score desc)
    )
    from parted as p;
$$;

-- Only as many places are chosen as will be looked at, because each choice compares all the rest.
-- What stands behind them keeps its order; the scores stay what they are.
create or replace function pgrag._diversified(
    hits pgrag.ranked_hit[],
    request pgrag.search_request
)
returns pgrag.ranked_hit[]
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    library_ids bigint[] := array(select q.library_id from unnest(request.queries) as q);
    model_ids bigint[] := array(select q.model_id from unnest(request.queries) as q);
    wanted constant integer := case
        when request.max_per_page is null
        then coalesce(request.after_place, 0) + request.match_count
    end;
    chosen integer[];
begin
    select pgrag._diverse_places(
        array_agg(h.library_id order by h.ordinality),
        array_agg(h.document_id order by h.ordinality),
        array_agg(
            model_ids[array_position(library_ids, h.library_id)] order by h.ordinality
        ),
        array_agg(h.score order by h.ordinality),
        request.mmr_lambda,
        least(wanted, 200)
    )
    into chosen
    from unnest(hits[:1000]) with ordinality as h;
    return pgrag._placed(
        hits,
        chosen || array(
            select place
            from generate_subscripts(hits, 1) as place
            where place <> all (chosen)
            order by place
        ),
        null
    );
end;
$$;

create or replace function pgrag._at_most_a_page(
    hits pgrag.ranked_hit[],
    max_per_page integer
)
returns pgrag.ranked_hit[]
language sql
immutable
parallel safe
set search_path from current
as $$
    select pgrag._placed(
        _at_most_a_page.hits,
        coalesce(array_agg(p.place order by p.place), '{}'),
        null
    )
    from (
        select
            h.ordinality as place,
            row_number() over (partition by h.page_id order by h.ordinality) as place_on_page
        from unnest(_at_most_a_page.hits) with ordinality as h
    ) as p
    where p.place_on_page <= _at_most_a_page.max_per_page;
$$;

-- The hits at these places, in this order, with these scores (null: with their own).
create or replace function pgrag._placed(
    hits pgrag.ranked_hit[],
    places bigint[],
    scores double precision[]
)
returns pgrag.ranked_hit[]
language sql
immutable
parallel safe
set search_path from current
as $$
    select array(
        select row(
            h.library_id, h.document_id, h.page_id, coalesce(p.score, h.score), h.keyword_score,
            h.semantic_score, h.passage_score, h.page_score, h.keyword_rank, h.semantic_rank,
            h.section_score, h.hybrid_score, h.graph
        )::pgrag.ranked_hit
        from unnest(_placed.places, _placed.scores) with ordinality as p (place, score, new_place)
        join unnest(_placed.hits) with ordinality as h on h.ordinality = p.place
        order by p.new_place
    );
$$;
