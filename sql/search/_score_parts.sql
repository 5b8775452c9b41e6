-- What each evidence adds to the score of a hit, and what each step after it adds or takes: the sum
-- is the score. words: the passage's own BM25F; page: that of its page, and titles; meaning: the
-- cosine; tokens: the words nearest to those of the query; links: the graph. With rrf, words and
-- meaning are the shares of the two ranks. Steps without effect are left out.
create or replace function _pgrag.score_parts(
    hit _pgrag.ranked_hit,
    request _pgrag.search_request,
    query _pgrag.library_query,
    type_weight double precision,
    language_weight double precision,
    phrase_weight double precision
)
returns jsonb
language sql
stable
parallel safe
as $$
    select jsonb_build_object(
        'words', e.words, 'meaning', e.meaning, 'page', e.page, 'links', t.linked - h.hybrid_score
    ) || coalesce(
        (
            select jsonb_object_agg(p.name, p.part)
            from (
                values
                    ('type_weight', e.total * (type_weight - 1)),
                    ('language_weight', e.total * type_weight * (language_weight - 1)),
                    ('limit', w.limited - w.weighted),
                    ('phrase_weight', w.limited * (phrase_weight - 1)),
                    ('summary', h.section_score - w.limited * phrase_weight),
                    (
                        'tokens',
                        h.hybrid_score - coalesce(h.section_score, w.limited * phrase_weight)
                    ),
                    ('page_decay', t.decayed - t.linked),
                    ('aggregate', s.aggregated - t.decayed),
                    ('hierarchy', s.arranged - s.aggregated),
                    ('rerank', h.score - s.arranged)
            ) as p (name, part)
            where abs(p.part) > 1e-12
        ),
        '{}'
    )
    from (select (score_parts.hit).*) as h
    cross join (select (score_parts.request).*) as r
    cross join (select (score_parts.query).*) as q
    cross join lateral (
        select f.*, f.words + f.meaning + f.page as total
        from (
            select
                case
                    when r.fusion = 'rrf'
                    then coalesce(r.rrf_weights[1] / (r.rrf_k + h.keyword_rank), 0)
                    else (1 - q.alpha) * (1 - q.page_evidence) * coalesce(h.passage_score, 0)
                end as words,
                case
                    when r.fusion = 'rrf'
                    then coalesce(r.rrf_weights[2] / (r.rrf_k + h.semantic_rank), 0)
                    else q.alpha * coalesce(h.semantic_score, 0)
                end as meaning,
                case
                    when r.fusion = 'rrf' then 0
                    else (1 - q.alpha) * q.page_evidence * coalesce(h.page_score, 0)
                end as page
        ) as f
    ) as e
    -- A weight above 1 lifts no score above 1.
    cross join lateral (
        select
            o.weighted,
            case
                when r.fusion = 'rrf' or type_weight * language_weight <= 0 then o.weighted
                else least(o.weighted, 1)
            end as limited
        from (select e.total * type_weight * language_weight as weighted) as o
    ) as w
    cross join lateral (
        select
            l.linked, l.linked * _pgrag.page_share(r.page_decay, h.better_on_page) as decayed
        from (
            select coalesce((h.graph ->> 'score')::double precision, h.hybrid_score) as linked
        ) as l
    ) as t
    cross join lateral (
        select
            a.aggregated,
            case
                when r.reranked is not null then coalesce(h.steps[n.after_hierarchy], a.aggregated)
                else h.score
            end as arranged
        from (
            select
                case when r.unit = 'page' then 1 else 0 end as aggregates,
                case when r.unit = 'page' then 1 else 0 end
                    + case when r.hierarchy <> 'none' then 1 else 0 end + 1 as after_hierarchy
        ) as n
        cross join lateral (
            select case
                when n.aggregates = 0 then t.decayed
                -- The score before the next step, or the last one.
                else coalesce(h.steps[2], h.score)
            end as aggregated
        ) as a
    ) as s;
$$;
