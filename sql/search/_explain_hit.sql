-- Every number behind a score, so that a reader can add it up by hand.
create or replace function _pgrag.explain_hit(
    request _pgrag.search_request,
    hit _pgrag.ranked_hit,
    plans jsonb
)
returns jsonb
language sql
stable
parallel safe
as $$
    select built.explanation || jsonb_build_object('reasons', _pgrag.reasons(built.explanation))
    from (select jsonb_build_object(
        'score', (explain_hit.hit).score,
        'rerank_score',
        case when (explain_hit.request).reranked is not null then (explain_hit.hit).score end,
        'section_score', (explain_hit.hit).section_score,
        'hybrid_score', (explain_hit.hit).hybrid_score,
        'intent', (explain_hit.request).intent,
        'filters', (explain_hit.request).query_filters,
        'unit', (explain_hit.request).unit,
        'aggregate', (explain_hit.request).aggregate,
        'hierarchy', (explain_hit.request).hierarchy,
        'mmr_lambda', (explain_hit.request).mmr_lambda,
        'query_expansion', (explain_hit.request).query_expansion,
        'fusion', (explain_hit.request).fusion,
        'alpha', q.alpha,
        'type', p.type,
        'type_weight', _pgrag.type_weight(p.type, q.type_weights),
        'keyword', jsonb_build_object(
            'score', (explain_hit.hit).keyword_score,
            'rank', (explain_hit.hit).keyword_rank,
            'passage_score', (explain_hit.hit).passage_score,
            'page_score', (explain_hit.hit).page_score,
            'page_evidence', q.page_evidence,
            'page_bm25', greatest(coalesce(-(p.weights <#> q.keywords), 0), 0),
            'title_score', _pgrag.title_score(
                coalesce((p.title_weights <#> q.title_keywords) ^ 2, 0),
                (r.title_weights <#> q.title_keywords) ^ 2
            ),
            'title_evidence', q.title_evidence,
            'lexemes', coalesce(
                (
                    select jsonb_agg(
                        jsonb_build_object(
                            'lexeme', t.lexeme,
                            'documents', t.document_count,
                            'idf', t.idf,
                            'weight', t.weight,
                            'impact', i.impact,
                            'adds', t.weight * i.impact
                        )
                        order by t.weight * i.impact desc, t.lexeme
                    )
                    from unnest((explain_hit.request).terms) as t
                    cross join lateral (
                        select -(
                            r.weights <#> _pgrag.sparse_vector(
                                pgrag.lexeme_id(t.language, t.lexeme) || ':1'
                            )
                        ) as impact
                    ) as i
                    where t.library_id = d.library_id and t.language = d.language
                ),
                '[]'
            )
        ),
        'semantic', jsonb_build_object(
            'score', (explain_hit.hit).semantic_score,
            'rank', (explain_hit.hit).semantic_rank,
            'model', m.name
        ),
        -- The parts of the score and the edges that counted; null without a graph.
        'graph', (
            select ((explain_hit.hit).graph - '{edges, reached_by}'::text[]) || jsonb_build_object(
                'score', least(
                    ((explain_hit.hit).graph ->> 'semantic')::double precision
                        + ((explain_hit.hit).graph ->> 'edge')::double precision
                        + ((explain_hit.hit).graph ->> 'centrality')::double precision,
                    1
                ),
                'edges_in', coalesce(jsonb_agg(e.edge) filter (where e.is_incoming), '[]'),
                'edges_out', coalesce(jsonb_agg(e.edge) filter (where not e.is_incoming), '[]'),
                'path', (
                    select jsonb_agg(p.title order by w.nth)
                    from jsonb_array_elements_text(
                        nullif((explain_hit.hit).graph -> 'reached_by', 'null')
                    ) with ordinality as w (page_id, nth)
                    join pgrag.pages as p
                        on p.library_id = (explain_hit.hit).library_id
                        and p.page_id = w.page_id::bigint
                )
            )
            from (
                select
                    l.target_page_id = (explain_hit.hit).page_id as is_incoming,
                    jsonb_build_object(
                        'edge_id', l.edge_id,
                        'page_id', o.page_id,
                        'title', o.title,
                        'kind', l.kind,
                        'confidence', l.confidence,
                        'weight', coalesce(k.weight, 1),
                        'sentence', l.sentence,
                        'line', l.line
                    ) as edge
                from jsonb_array_elements_text((explain_hit.hit).graph -> 'edges')
                    with ordinality as counted (edge_id, nth)
                join pgrag.edges as l
                    on l.library_id = (explain_hit.hit).library_id
                    and l.edge_id = counted.edge_id::bigint
                join pgrag.pages as o
                    on o.library_id = l.library_id
                    and o.page_id = case
                        when l.target_page_id = (explain_hit.hit).page_id then l.source_page_id
                        else l.target_page_id
                    end
                left join pgrag.edge_kinds as k on k.name = l.kind
                order by counted.nth
            ) as e
        ),
        'plans', explain_hit.plans
    ) as explanation
    from pgrag.documents as d
    join pgrag.impacts as r on r.library_id = d.library_id and r.document_id = d.document_id
    join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
    join unnest((explain_hit.request).queries) as q on q.library_id = d.library_id
    left join pgrag.embedding_models as m on m.model_id = q.model_id
    where d.library_id = (explain_hit.hit).library_id
        and d.document_id = (explain_hit.hit).document_id
    ) as built;
$$;

-- The reasons for the rank of a hit, one sentence each.
create or replace function _pgrag.reasons(
    explanation jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select coalesce(jsonb_agg(r.reason order by r.nth) filter (where r.reason is not null), '[]')
    from (
        select reasons.explanation -> 'keyword' as k, reasons.explanation -> 'semantic' as s,
            nullif(reasons.explanation -> 'graph', 'null') as g
    ) as e
    cross join lateral (
        values
            (1, (
                select format(
                    'Its text has %s.', string_agg(w.word ->> 'lexeme', ', ' order by w.nth)
                )
                from jsonb_array_elements(e.k -> 'lexemes') with ordinality as w (word, nth)
                where (w.word ->> 'adds')::double precision > 0
                having count(*) > 0
            )),
            (2, case
                when (e.k ->> 'page_evidence')::double precision > 0
                    and (e.k ->> 'page_bm25')::double precision > 0
                then format(
                    'Its page as a whole is about the words (%s).',
                    round((e.k ->> 'page_bm25')::numeric, 2)
                )
            end),
            (3, case
                when (e.k ->> 'title_score')::double precision >= 0.999
                then 'Its title is exactly what was asked for.'
                when (e.k ->> 'title_score')::double precision > 0
                then format(
                    'Its titles have words of the query (%s).',
                    round((e.k ->> 'title_score')::numeric, 2)
                )
            end),
            (4, case
                when e.s ->> 'rank' is not null
                then format(
                    'Its meaning is similar (cosine %s, place %s among the nearest).',
                    round((e.s ->> 'score')::numeric, 2), e.s ->> 'rank'
                )
                when (e.s ->> 'score')::double precision > 0
                then format(
                    'Its meaning is somewhat similar (cosine %s).',
                    round((e.s ->> 'score')::numeric, 2)
                )
            end),
            (5, case
                when (reasons.explanation ->> 'section_score') is not null
                then 'The summary of its section matches better, and gives it its score.'
            end),
            (6, case
                when (reasons.explanation ->> 'type_weight')::double precision <> 1
                then format(
                    'Pages %s weigh %s.',
                    coalesce(
                        'of type ' || nullif(reasons.explanation ->> 'type', ''), 'without a type'
                    ),
                    reasons.explanation ->> 'type_weight'
                )
            end),
            (7, case
                when (e.g ->> 'linked_by')::integer > 0
                then format(
                    'Linked by %s of the %s best pages: %s.',
                    e.g ->> 'linked_by', e.g ->> 'seeds', _pgrag.titles(e.g -> 'edges_in')
                )
            end),
            (8, case
                when (e.g ->> 'links_to')::integer > 0
                then format(
                    'Links to %s of the %s best pages: %s.',
                    e.g ->> 'links_to', e.g ->> 'seeds', _pgrag.titles(e.g -> 'edges_out')
                )
            end),
            (9, case
                when jsonb_typeof(e.g -> 'path') = 'array'
                then 'Reached through ' || (
                    select string_agg(p.title, ' → ' order by p.nth)
                    from jsonb_array_elements_text(e.g -> 'path')
                        with ordinality as p (title, nth)
                ) || '.'
            end),
            (10, case
                when (e.g ->> 'centrality')::double precision > 0
                then format(
                    'Central among the pages around the hits (%s of 1).',
                    round((e.g ->> 'centrality_share')::numeric, 2)
                )
            end),
            (11, case
                when reasons.explanation ->> 'rerank_score' is not null
                then format(
                    'The reranker gives it %s; without it, the score is %s.',
                    round((reasons.explanation ->> 'rerank_score')::numeric, 2),
                    round(
                        coalesce(e.g ->> 'score', reasons.explanation ->> 'hybrid_score')::numeric,
                        2
                    )
                )
            end)
    ) as r (nth, reason);
$$;

create or replace function _pgrag.titles(
    edges jsonb
)
returns text
language sql
immutable
parallel safe
as $$
    select string_agg(t.title, ', ' order by t.nth)
    from (
        select e.edge ->> 'title' as title, min(e.nth) as nth
        from jsonb_array_elements(titles.edges) with ordinality as e (edge, nth)
        group by e.edge ->> 'title'
    ) as t;
$$;
