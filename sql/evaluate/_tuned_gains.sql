-- nDCG@10 of pages for each question under any settings: computes the ranking of a search from the
-- gathered features.
create or replace function _pgrag.tuned_gains(
    settings jsonb,
    on_validation boolean
)
returns table (
    question_number bigint,
    kind text,
    is_muted boolean,
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
        where -(p.counts <#> weights) > 0
        group by p.question_number, p.is_muted, p.is_page, p.text_id
    ),
    pages as (
        select
            c.question_number, c.is_muted, c.page_id,
            max(
                _pgrag.fused_score(
                    _pgrag.keyword_score(
                        coalesce(t.score, 0),
                        _pgrag.page_score(coalesce(p.score, 0), c.title_score, title_evidence),
                        page_evidence
                    ),
                    c.semantic_score,
                    alpha
                )
            ) as score
        from pg_temp.tuning_candidates as c
        join questions as q on q.question_number = c.question_number
        left join texts as t
            on t.question_number = c.question_number and t.is_muted = c.is_muted
            and t.text_id = c.document_id and not t.is_page
        left join texts as p
            on p.question_number = c.question_number and p.is_muted = c.is_muted
            and p.text_id = c.page_id and p.is_page
        group by c.question_number, c.is_muted, c.page_id
    )
    select
        q.question_number, q.kind, p.is_muted,
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
    group by q.question_number, q.kind, p.is_muted, q.grades;
end;
$$;
