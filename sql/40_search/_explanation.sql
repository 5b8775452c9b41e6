-- Every number that led to a score, so that it can be added up by hand.
create or replace function pgrag._explanation(
    request pgrag.search_request,
    hit pgrag.ranked_hit,
    plans jsonb
)
returns jsonb
language sql
stable
parallel safe
set search_path from current
as $$
    select jsonb_build_object(
        'score', (_explanation.hit).score,
        'section_score', (_explanation.hit).section_score,
        'hybrid_score', (_explanation.hit).hybrid_score,
        'intent', (_explanation.request).intent,
        'filters', (_explanation.request).query_filters,
        'unit', (_explanation.request).unit,
        'aggregate', (_explanation.request).aggregate,
        'hierarchy', (_explanation.request).hierarchy,
        'mmr_lambda', (_explanation.request).mmr_lambda,
        'query_expansion', (_explanation.request).query_expansion,
        'fusion', (_explanation.request).fusion,
        'alpha', q.alpha,
        'keyword', jsonb_build_object(
            'score', (_explanation.hit).keyword_score,
            'rank', (_explanation.hit).keyword_rank,
            'passage_score', (_explanation.hit).passage_score,
            'page_score', (_explanation.hit).page_score,
            'page_evidence', q.page_evidence,
            'page_bm25', greatest(coalesce(-(p.weights <#> q.keywords), 0), 0),
            'title_score', pgrag._title_score(q.title_keywords, p.title_weights, d.title_weights),
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
                    from unnest((_explanation.request).terms) as t
                    cross join lateral (
                        select -(
                            d.weights <#> pgrag._sparse_vector(
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
            'score', (_explanation.hit).semantic_score,
            'rank', (_explanation.hit).semantic_rank,
            'model', m.name
        ),
        'plans', _explanation.plans
    )
    from pgrag.documents as d
    join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
    join unnest((_explanation.request).queries) as q on q.library_id = d.library_id
    left join pgrag.embedding_models as m on m.model_id = q.model_id
    where d.library_id = (_explanation.hit).library_id
        and d.document_id = (_explanation.hit).document_id;
$$;
