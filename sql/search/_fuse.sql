-- The best rows, at most `most`. Equal scores are ordered by the sources alone: newer versions,
-- earlier passages of a page, the hash of the text. It is a single statement, because to start one
-- takes as long as to score twenty candidates. The planner cannot estimate the number of rows and
-- would join by nested loops: so windows group them, and joins are full ones, which it can only
-- hash or merge.
create or replace function _pgrag.fuse(
    request _pgrag.search_request,
    keyword_hits _pgrag.candidates,
    vector_hits _pgrag.candidates,
    most integer default null,
    seen bigint[] default '{}'
)
returns _pgrag.ranked_hit[]
language plpgsql
stable
parallel safe
as $$
#variable_conflict use_column
declare
    hits _pgrag.ranked_hit[];
begin
    with scored as materialized (
        select c.*
        from _pgrag.scored_candidates(
            request, keyword_hits, vector_hits, request.fusion = 'rrf' or most is null
        ) as c
    ),
    -- A summary repeats what is below it: it gives way to the best paragraph there, and lends it
    -- its score if that is higher. A paragraph of its own section comes first, unless one further
    -- below is clearly better.
    lent as materialized (
        select distinct on (s.document_id) s.document_id as summary_id, p.document_id, s.score
        from (select * from scored as s where request.collapse and s.level < 2) as s
        full join (select * from scored as p where p.level = 2) as p on p.page_id = s.page_id
        where coalesce(p.reading_order - s.reading_order between 1 and s.length_below, false)
        order by
            s.document_id,
            p.score * case when p.section_id = s.section_id then 1.25 else 1 end desc,
            p.reading_order
    ),
    settled as (
        select s.*, greatest(s.score, b.score) as fused_score
        from scored as s
        full join (
            select l.document_id, max(l.score) as score from lent as l group by l.document_id
        ) as b on b.document_id = s.document_id
        where s.document_id not in (select l.summary_id from lent as l)
            or s.document_id = any (seen)
            or request.keeps_repeats
    ),
    -- The same text of several pages is one result, unless pages are wanted.
    different as (
        select s.*
        from (
            select
                s.*,
                row_number() over (
                    partition by s.content_hash, s.reading_order >> 32
                    order by
                        s.document_id = any (seen) desc, s.fused_score desc, s.reading_order,
                        s.text_hash, s.document_id
                ) as nth_of_text
            from settled as s
        ) as s
        where s.nth_of_text = 1
            or s.content_hash is null
            or not request.collapse
            or request.keeps_repeats
            or request.unit = 'page'
    ),
    -- The reader of a page's best passage needs its others less.
    decayed as (
        select r.*, r.fused_score * _pgrag.page_share(request.page_decay, r.better_on_page)
            as final_score
        from (
            select
                s.*,
                row_number() over (
                    partition by s.page_id
                    order by s.fused_score desc, s.reading_order, s.text_hash, s.document_id
                ) - 1 as better_on_page
            from different as s
        ) as r
    ),
    best as (
        select d.*
        from decayed as d
        order by d.final_score desc, d.reading_order, d.text_hash, d.document_id
        limit most
    )
    select array_agg(
        row(
            b.library_id, b.document_id, b.page_id, b.final_score, b.keyword_score,
            b.semantic_score, b.passage_score, b.page_score,
            coalesce(b.keyword_rank, _pgrag.rank_at(keyword_hits.scores, b.keyword_nth)),
            coalesce(b.semantic_rank, _pgrag.rank_at(vector_hits.scores, b.semantic_nth)),
            nullif(b.fused_score, b.score),
            -- Who only counts asks which passages pass without a summary's score.
            case when request.keeps_repeats then b.score else b.fused_score end,
            null::jsonb, null::double precision, b.better_on_page::integer,
            null::double precision[]
        )::_pgrag.ranked_hit
    )
    into hits
    -- In their order.
    from best as b;
    return coalesce(hits, '{}');
end;
$$;

-- Each candidate with the scores of both retrievers, in no order. Inlined.
create or replace function _pgrag.scored_candidates(
    request _pgrag.search_request,
    keyword_hits _pgrag.candidates,
    vector_hits _pgrag.candidates,
    has_ranks boolean
)
returns setof _pgrag.scored_candidate
language sql
stable
parallel safe
as $$
    -- Materialized: coalesce is not leakproof, so with row-level security no index could be used.
    with candidates as materialized (
        select
            coalesce(k.library_id, v.library_id) as library_id,
            coalesce(k.document_id, v.document_id) as document_id,
            k.nth as keyword_nth, v.nth as semantic_nth,
            k.rank as keyword_rank, v.rank as semantic_rank,
            k.score as bm25, v.score as cosine,
            coalesce(k.phrase_weight, v.phrase_weight, 1) as phrase_weight
        from unnest(
            keyword_hits.library_ids, keyword_hits.document_ids, keyword_hits.scores,
            case
                when request.phrase_conditions is not null
                then _pgrag.phrase_weights(request, keyword_hits)
            end,
            case when has_ranks then _pgrag.ranks(keyword_hits.scores) end
        ) with ordinality as k (library_id, document_id, score, phrase_weight, rank, nth)
        full join unnest(
            vector_hits.library_ids, vector_hits.document_ids, vector_hits.scores,
            case
                when request.phrase_conditions is not null
                then _pgrag.phrase_weights(request, vector_hits)
            end,
            case when has_ranks then _pgrag.ranks(vector_hits.scores) end
        ) with ordinality as v (library_id, document_id, score, phrase_weight, rank, nth)
            on v.document_id = k.document_id
    ),
    -- Wide columns are used here only, because later sorts and windows copy all columns.
    located as materialized (
        select
            c.library_id, c.document_id, c.keyword_nth, c.semantic_nth, c.keyword_rank,
            c.semantic_rank, c.phrase_weight,
            i.page_id, i.level, i.section_id, i.text_hash, i.content_hash,
            array_position(
                (select (request.target).version_ids), i.version_id
            )::bigint << 32 | i.sort_order as reading_order,
            i.section_end - i.sort_order as length_below,
            q.alpha, q.page_evidence, q.title_evidence,
            q.alpha < 1 and q.page_evidence > 0 as has_evidence,
            case
                when q.alpha < 1 and q.page_evidence > 0
                then (i.title_weights <#> q.title_keywords) ^ 2
            end as title_match,
            -- The score of a retriever's own candidate is exact already.
            case
                when q.alpha < 1 then greatest(coalesce(c.bm25, -(i.weights <#> q.keywords)), 0)
            end as passage_score,
            case
                when q.alpha > 0
                then greatest(coalesce(c.cosine, (
                    select -(e.embedding <#> q.embedding)
                    from pgrag.embeddings as e
                    where e.library_id = c.library_id
                        and e.document_id = c.document_id
                        and e.model_id = q.model_id
                )), 0)
            end as semantic_score
        from candidates as c
        join unnest(request.queries) as q on q.library_id = c.library_id
        join pgrag.impacts as i on i.library_id = c.library_id and i.document_id = c.document_id
    ),
    -- Of each page the weight of its type and language, its score and its title's, read once,
    -- because the page's impacts are long.
    pages as (
        select
            p.page_id,
            _pgrag.page_weight(p.type, p.language, q.type_weights, q.language) as page_weight,
            case when l.has_evidence then greatest(-(p.weights <#> q.keywords), 0) end as bm25,
            case
                when l.has_evidence then (p.title_weights <#> q.title_keywords) ^ 2
            end as title_match
        from (select distinct o.library_id, o.page_id, o.has_evidence from located as o) as l
        join unnest(request.queries) as q on q.library_id = l.library_id
        join pgrag.pages as p on p.library_id = l.library_id and p.page_id = l.page_id
        where l.has_evidence or q.type_weights is not null or q.language is not null
    )
    select
        s.library_id, s.document_id, s.page_id, s.section_id, s.level, s.reading_order,
        s.length_below, s.text_hash, s.content_hash, s.keyword_score, s.semantic_score,
        s.passage_score, s.page_score, s.keyword_nth, s.semantic_nth, s.keyword_rank,
        s.semantic_rank,
        s.phrase_weight * s.page_weight * case request.fusion
            when 'rrf' then _pgrag.reciprocal_rank_score(
                s.keyword_rank, s.semantic_rank, request.rrf_weights, request.rrf_k
            )
            else least(
                _pgrag.fused_score(s.keyword_score, s.semantic_score, s.alpha),
                -- A weight above 1 lifts no score above 1.
                1 / nullif(s.page_weight, 0)
            )
        end as score
    from (
        select
            c.*,
            _pgrag.keyword_score(c.passage_score, c.page_score, c.page_evidence)
                as keyword_score
        from (
            select
                l.*,
                coalesce(p.page_weight, 1) as page_weight,
                _pgrag.page_score(
                    coalesce(p.bm25, 0),
                    _pgrag.title_score(coalesce(p.title_match, 0), l.title_match),
                    l.title_evidence
                ) as page_score
            from located as l
            full join pages as p on p.page_id = l.page_id
        ) as c
    ) as s;
$$;

-- What a hit keeps behind so many better hits of its page. A power that underflows is an error.
create or replace function _pgrag.page_share(
    page_decay double precision,
    better_on_page bigint
)
returns double precision
language sql
immutable
parallel safe
as $$
    select case
        when page_share.better_on_page = 0 then 1
        when page_share.page_decay = 0 then 0
        when page_share.better_on_page * ln(page_share.page_decay) < -300 then 0
        else page_share.page_decay ^ page_share.better_on_page
    end;
$$;

-- The rank of each score, in their order; equal ones share the first's.
create or replace function _pgrag.ranks(
    scores double precision[]
)
returns integer[]
language plpgsql
immutable
parallel safe
as $$
begin
    return array(
        select r.rank
        from (
            select c.nth, rank() over (order by c.score desc)::integer as rank
            from unnest(scores) with ordinality as c (score, nth)
        ) as r
        order by r.nth
    );
end;
$$;

-- The same of one of falling scores, without reading them all.
create or replace function _pgrag.rank_at(
    scores double precision[],
    nth bigint
)
returns integer
language sql
immutable
parallel safe
as $$
    select case
        when rank_at.scores[rank_at.nth - 1] = rank_at.scores[rank_at.nth]
        then pg_catalog.array_position(rank_at.scores, rank_at.scores[rank_at.nth])
        else rank_at.nth
    end::integer;
$$;
