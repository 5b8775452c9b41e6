-- Every number behind a score, so that a reader can add it up by hand.
create or replace function _pgrag.explain_hit(
    request _pgrag.search_request,
    hit _pgrag.ranked_hit,
    plans jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
as $$
begin
    -- Filters alone rank nothing.
    if request.words = '' then
        return jsonb_build_object(
            'score', hit.score, 'filters', request.query_filters,
            'parts', jsonb_build_object('filters', hit.score), 'reasons', '[]'::jsonb
        );
    end if;
    return (
        select built.explanation || jsonb_build_object('reasons', _pgrag.reasons(built.explanation))
        from (
            select jsonb_build_object(
                'score', h.score,
                'rerank_score', case when a.reranked is not null then h.score end,
                'section_score', h.section_score,
                'hybrid_score', h.hybrid_score,
                'page_decay', a.page_decay,
                'better_on_page', h.better_on_page,
                'intent', a.intent,
                'filters', a.query_filters,
                'unit', a.unit,
                'aggregate', a.aggregate,
                'hierarchy', a.hierarchy,
                'mmr_lambda', a.mmr_lambda,
                'query_expansion', a.query_expansion,
                'fusion', a.fusion,
                'alpha', q.alpha,
                'type', p.type,
                'type_weight', w.of_type,
                'language_weight', w.of_language,
                'phrase_weight', w.of_phrases,
                'keyword', jsonb_build_object(
                    'score', h.keyword_score,
                    'rank', h.keyword_rank,
                    'passage_score', h.passage_score,
                    'page_score', h.page_score,
                    'page_evidence', q.page_evidence,
                    'page_bm25', greatest(coalesce(-(p.weights <#> q.keywords), 0), 0),
                    'title_score', _pgrag.title_score(
                        coalesce((p.title_weights <#> q.title_keywords) ^ 2, 0),
                        (i.title_weights <#> q.title_keywords) ^ 2
                    ),
                    'title_evidence', q.title_evidence,
                    'lexemes', coalesce(
                        (
                            select jsonb_agg(
                                jsonb_build_object(
                                    'lexeme', _pgrag.with_signs(t.lexeme),
                                    'documents', t.document_count,
                                    'idf', t.idf,
                                    'weight', t.weight,
                                    'impact', v.impact,
                                    'adds', t.weight * v.impact
                                )
                                order by t.weight * v.impact desc, t.lexeme
                            )
                            from unnest(a.terms) as t
                            cross join lateral (
                                select -(
                                    i.weights <#> _pgrag.sparse_vector(
                                        _pgrag.lexeme_id(t.language, t.lexeme) || ':1'
                                    )
                                ) as impact
                            ) as v
                            where t.library_id = d.library_id and t.language = d.language
                        ),
                        '[]'
                    )
                ),
                'semantic', jsonb_build_object(
                    'score', h.semantic_score, 'rank', h.semantic_rank, 'model', m.name
                ),
                -- The words of the query as with_token_matches compares those of the first hits.
                'tokens', (
                    select jsonb_build_object(
                        'weight', q.token_weight,
                        'score', sum(t.share * t.match),
                        'words', jsonb_agg(
                            jsonb_build_object(
                                'word', t.word, 'share', t.share, 'match', t.match
                            )
                            order by t.share * t.match desc, t.word
                        )
                    )
                    from _pgrag.token_matches(array[explain_hit.hit], request) as t
                    having count(*) > 0
                ),
                -- The parts of the score and the edges that counted; null without a graph.
                'graph', case
                    when h.graph is not null
                    then h.graph - '{edges, reached_by}'::text[]
                        || _pgrag.graph_evidence(h.library_id, h.page_id, h.graph)
                end,
                -- What the confidence is made of.
                'confidence', (
                    select jsonb_build_object(
                        'value', h.confidence, 'coverage', e.coverage, 'known', e.known,
                        'page', e.page_score, 'cosine', e.cosine
                    )
                    from _pgrag.evidence(array[explain_hit.hit], request) as e
                ),
                'plans', explain_hit.plans,
                'parts', _pgrag.score_parts(
                    explain_hit.hit, request, q, w.of_type, w.of_language, w.of_phrases
                )
            ) as explanation
            from (select (explain_hit.hit).*) as h
            cross join (select (explain_hit.request).*) as a
            join pgrag.documents as d
                on d.library_id = h.library_id and d.document_id = h.document_id
            join pgrag.impacts as i on i.library_id = d.library_id and i.document_id = d.document_id
            join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
            join unnest(a.queries) as q on q.library_id = d.library_id
            left join pgrag.embedding_models as m on m.model_id = q.model_id
            cross join lateral (
                select
                    _pgrag.type_weight(p.type, q.type_weights) as of_type,
                    _pgrag.language_weight(p.language, q.language) as of_language,
                    _pgrag.phrase_weight(
                        a.phrase_languages, a.phrase_conditions, d.language, d.search
                    ) as of_phrases
                offset 0
            ) as w
            -- Read twice above, made once.
            offset 0
        ) as built
    );
end;
$$;

-- The edges that counted for a page, and the titles on the path to it.
create or replace function _pgrag.graph_evidence(
    library_id bigint,
    page_id bigint,
    graph jsonb
)
returns jsonb
language sql
stable
parallel safe
as $$
    select jsonb_build_object(
        'edges_in', coalesce(jsonb_agg(e.edge order by e.nth) filter (where e.is_incoming), '[]'),
        'edges_out',
        coalesce(jsonb_agg(e.edge order by e.nth) filter (where not e.is_incoming), '[]'),
        'path', (
            select jsonb_agg(p.title order by w.nth)
            from jsonb_array_elements_text(nullif(graph_evidence.graph -> 'reached_by', 'null'))
                with ordinality as w (page_id, nth)
            join pgrag.pages as p
                on p.library_id = graph_evidence.library_id and p.page_id = w.page_id::bigint
        )
    )
    from (
        select
            l.target_page_id = graph_evidence.page_id as is_incoming,
            counted.nth,
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
        from jsonb_array_elements_text(graph_evidence.graph -> 'edges')
            with ordinality as counted (edge_id, nth)
        join pgrag.edges as l
            on l.library_id = graph_evidence.library_id and l.edge_id = counted.edge_id::bigint
        join pgrag.pages as o
            on o.library_id = l.library_id
            and o.page_id = case l.target_page_id
                when graph_evidence.page_id then l.source_page_id
                else l.target_page_id
            end
        left join pgrag.edge_kinds as k on k.name = l.kind
    ) as e;
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
    select to_jsonb(array_remove(array[
        (
            select format('Its text has %s.', string_agg(w.word ->> 'lexeme', ', ' order by w.nth))
            from jsonb_array_elements(k.lexemes) with ordinality as w (word, nth)
            where (w.word ->> 'adds')::double precision > 0
            having count(*) > 0
        ),
        case
            when k.page_evidence > 0 and k.page_bm25 > 0
            then format('Its page as a whole is about the words (%s).', round(k.page_bm25, 2))
        end,
        case
            when k.title_score >= 0.999 then 'Its title is exactly what was asked for.'
            when k.title_score > 0
            then format('Its titles have words of the query (%s).', round(k.title_score, 2))
        end,
        case
            when s.rank is not null
            then format(
                'Its meaning is similar (cosine %s, rank %s among the nearest).',
                round(s.score, 2), s.rank
            )
            when s.score > 0
            then format('Its meaning is somewhat similar (cosine %s).', round(s.score, 2))
        end,
        case
            when e.section_score is not null
            then 'A summary above it matches better, and gives it its score.'
        end,
        case
            when e.better_on_page > 0 and e.page_decay < 1
            then format(
                'Better hits of its page: %s; its score counts %s.',
                e.better_on_page, round((e.page_decay ^ e.better_on_page)::numeric, 2)
            )
        end,
        case
            when e.type_weight <> 1
            then format(
                'Pages %s weigh %s.',
                coalesce('of type ' || nullif(e.type, ''), 'without a type'), e.type_weight
            )
        end,
        case
            when e.phrase_weight < 1
            then format('It lacks a quoted phrase as a phrase (weight %s).', e.phrase_weight)
        end,
        case
            when e.language_weight < 1
            then format('Pages in another language weigh %s.', e.language_weight)
        end,
        case
            when g.linked_by > 0
            then format(
                'Linked by %s of the %s best pages: %s.',
                g.linked_by, g.seeds, _pgrag.titles(g.edges_in)
            )
        end,
        case
            when g.links_to > 0
            then format(
                'Links to %s of the %s best pages: %s.',
                g.links_to, g.seeds, _pgrag.titles(g.edges_out)
            )
        end,
        'Reached through ' || array_to_string(g.path, ' → ') || '.',
        case
            when g.centrality > 0
            then format(
                'Central among the pages around the hits (%s of 1).', round(g.centrality_share, 2)
            )
        end,
        case
            when e.rerank_score is not null
            then format(
                'The reranker gives it %s; without it, the score is %s.',
                round(e.rerank_score, 2), round(coalesce(g.score, e.hybrid_score), 2)
            )
        end
    ], null))
    from jsonb_to_record(reasons.explanation) as e (
        type text, type_weight numeric, language_weight numeric, phrase_weight numeric,
        section_score numeric, hybrid_score numeric, page_decay double precision,
        better_on_page integer, rerank_score numeric, keyword jsonb, semantic jsonb, graph jsonb
    )
    cross join jsonb_to_record(e.keyword) as k (
        lexemes jsonb, page_evidence numeric, page_bm25 numeric, title_score numeric
    )
    cross join jsonb_to_record(e.semantic) as s (rank integer, score numeric)
    cross join jsonb_to_record(e.graph) as g (
        score numeric, centrality numeric, centrality_share numeric, seeds integer,
        linked_by integer, links_to integer, edges_in jsonb, edges_out jsonb, path text[]
    );
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
