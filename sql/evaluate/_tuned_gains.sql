-- nDCG@10 of pages for each question under any settings: computes the ranking of a search from the
-- gathered features. Links, and other aggregations than the best passage, are applied by the
-- function that searches use.
create or replace function _pgrag.tuned_gains(
    settings jsonb,
    on_validation boolean
)
returns table (
    question_number bigint,
    kind text,
    is_muted boolean,
    is_link_text boolean,
    gain double precision
)
language plpgsql
stable
parallel unsafe
set enable_nestloop = off
set jit = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    alpha double precision := settings ->> 'alpha';
    page_evidence double precision := settings ->> 'page_evidence';
    title_evidence double precision := settings ->> 'title_evidence';
    k1 double precision := settings ->> 'k1';
    b double precision := settings ->> 'b';
    weights vector := _pgrag.field_weights(settings)::vector;
    is_rearranged boolean := (settings #>> '{graph,search}')::boolean
        or settings ->> 'aggregate' <> 'max';
begin
    return query
    with questions as (
        select q.* from pg_temp.tuning_questions as q where q.is_validation = on_validation
    ),
    texts as materialized (
        select
            p.question_number, p.is_muted, p.is_page, p.text_id,
            sum(
                p.weight * _pgrag.impact(
                    -(p.counts <#> weights),
                    -(p.lengths <#> weights),
                    greatest(-(p.averages <#> weights), 1e-6),
                    k1,
                    b
                )
            ) as score
        from pg_temp.tuning_postings as p
        join questions as q on q.question_number = p.question_number
        where p.expansion = settings ->> 'query_expansion' and -(p.counts <#> weights) > 0
        group by p.question_number, p.is_muted, p.is_page, p.text_id
    ),
    passages as (
        select
            c.question_number, c.is_muted, c.document_id, c.page_id, c.level, c.section_id,
            c.type_weight * _pgrag.fused_score(
                _pgrag.keyword_score(
                    coalesce(t.score, 0),
                    _pgrag.page_score(
                        coalesce(p.score, 0), c.title_score, title_evidence * (q.own).title_share
                    ),
                    page_evidence
                ),
                c.semantic_score,
                alpha * (q.own).alpha_share
            ) as score
        from pg_temp.tuning_candidates as c
        join questions as q on q.question_number = c.question_number
        left join texts as t
            on t.question_number = c.question_number and t.is_muted = c.is_muted
            and t.text_id = c.document_id and not t.is_page
        left join texts as p
            on p.question_number = c.question_number and p.is_muted = c.is_muted
            and p.text_id = c.page_id and p.is_page
    ),
    -- As in the fusion, the summary of a section gives way to its paragraphs, and lends the best of
    -- them its score.
    settled as (
        select
            p.question_number, p.is_muted, p.document_id, p.page_id, p.level,
            bool_or(p.level = 2) over section as has_paragraph,
            case
                when 1 = row_number() over (
                    partition by p.question_number, p.is_muted, p.section_id
                    order by (p.level = 2) desc, p.score desc, p.document_id
                )
                then max(p.score) over section
                else p.score
            end as score
        from passages as p
        where is_rearranged
        window section as (partition by p.question_number, p.is_muted, p.section_id)
    ),
    pages as (
        select p.question_number, p.is_muted, p.page_id, max(p.score) as score
        from passages as p
        where not is_rearranged
        group by p.question_number, p.is_muted, p.page_id
        union all
        select l.question_number, l.is_muted, h.page_id, h.score
        from (
            select
                p.question_number, p.is_muted,
                array_agg(
                    _pgrag.tuned_hit(q.request, p.document_id, p.page_id, p.score)
                    order by p.nth
                ) as hits
            from (
                select
                    s.*,
                    row_number() over (
                        partition by s.question_number, s.is_muted
                        order by s.score desc, s.document_id
                    ) as nth
                from settled as s
                where s.level = 2 or not s.has_paragraph
            ) as p
            join questions as q on q.question_number = p.question_number
            -- About as deep as a search reads: all passages of the relevant pages are candidates,
            -- and the weak ones would count in a mean of their page, but in no other's.
            where p.nth <= 100
            group by p.question_number, p.is_muted
        ) as l
        join questions as q on q.question_number = l.question_number
        cross join lateral unnest(
            _pgrag.tuned_list(l.hits, q.request, settings)
        ) as h
        where h.page_id <> all (q.excluded_pages)
    )
    select
        q.question_number, q.kind, p.is_muted, q.is_link_text,
        pgrag.ndcg_at(
            array_agg(
                coalesce(q.grades[array_position(q.page_ids, p.page_id)], 0)
                order by p.score desc, p.page_id
            ),
            q.grades,
            10
        )
    from pages as p
    join questions as q on q.question_number = p.question_number
    group by q.question_number, q.kind, p.is_muted, q.is_link_text, q.grades;
end;
$$;

create or replace function _pgrag.tuned_hit(
    request _pgrag.search_request,
    document_id bigint,
    page_id bigint,
    score double precision
)
returns _pgrag.ranked_hit
language plpgsql
immutable
parallel safe
as $$
declare
    hit _pgrag.ranked_hit;
begin
    hit.library_id := (request.target).library_ids[1];
    hit.document_id := document_id;
    hit.page_id := page_id;
    hit.score := score;
    hit.hybrid_score := score;
    return hit;
end;
$$;

-- The list of a search for pages with these settings. Nested loops, which its caller avoids, are
-- right for one search.
create or replace function _pgrag.tuned_list(
    hits _pgrag.ranked_hit[],
    request _pgrag.search_request,
    settings jsonb
)
returns _pgrag.ranked_hit[]
language plpgsql
stable
parallel safe
set enable_nestloop = on
set jit = off
as $$
declare
    own _pgrag.library_query := request.queries[1];
begin
    own.alpha := (settings ->> 'alpha')::double precision * own.alpha_share;
    own.page_evidence := settings ->> 'page_evidence';
    own.title_evidence := (settings ->> 'title_evidence')::real * own.title_share;
    request.queries := array[own];
    request.unit := 'page';
    request.aggregate := settings ->> 'aggregate';
    request.graph := case
        when (settings #>> '{graph,search}')::boolean then (settings -> 'graph') - 'search'
    end;
    return _pgrag.rearrange(hits, request);
end;
$$;
