-- The best rows, at most `most`. Equal scores are ordered by the
-- sources alone: newer versions, earlier passages of a page, the hash of the text. Windows group
-- the rows, because the planner cannot estimate their number and would join by nested loops.
create or replace function _pgrag.fuse(
    request _pgrag.search_request,
    keyword_hits _pgrag.candidates,
    vector_hits _pgrag.candidates,
    most integer default null,
    seen bigint[] default '{}'
)
returns setof _pgrag.ranked_hit
language plpgsql
stable
parallel safe
as $$
#variable_conflict use_column
begin
    return query
    with scored as materialized (
        select c.* from _pgrag.scored_candidates(request, keyword_hits, vector_hits) as c
    ),
    -- A summary repeats what is below it: it gives way to the best paragraph there, and lends it
    -- its score if that is higher. A paragraph of its own section comes first, unless one further
    -- below is clearly better.
    lent as (
        select distinct on (s.document_id) s.document_id as summary_id, p.document_id, s.score
        from scored as s
        join scored as p
            on p.page_id = s.page_id
            and p.level = 2
            and p.reading_order - s.reading_order between 1 and s.length_below
        where request.collapse and s.level < 2
        order by
            s.document_id,
            p.score * case when p.section_id = s.section_id then 1.25 else 1 end desc,
            p.reading_order
    ),
    settled as (
        select s.*, greatest(s.score, b.score) as fused_score
        from scored as s
        left join (
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
    )
    select
        d.library_id, d.document_id, d.page_id, d.final_score, d.keyword_score, d.semantic_score,
        d.passage_score, d.page_score, d.keyword_rank, d.semantic_rank,
        nullif(d.fused_score, d.score),
        -- Who only counts asks which passages pass without a summary's score.
        case when request.keeps_repeats then d.score else d.fused_score end,
        null::jsonb, null::double precision,
        d.better_on_page::integer, null::double precision[]
    from decayed as d
    order by d.final_score desc, d.reading_order, d.text_hash, d.document_id
    limit most;
end;
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

-- Each candidate with the scores of both retrievers, in no order.
create or replace function _pgrag.scored_candidates(
    request _pgrag.search_request,
    keyword_hits _pgrag.candidates,
    vector_hits _pgrag.candidates
)
returns setof _pgrag.scored_candidate
language plpgsql
stable
parallel safe
rows 100
as $$
#variable_conflict use_column
begin
    return query
    -- Materialized: coalesce is not leakproof, so with row-level security no index could be used.
    with candidates as materialized (
        select
            coalesce(k.library_id, v.library_id) as library_id,
            coalesce(k.document_id, v.document_id) as document_id,
            k.rank as keyword_rank, v.rank as semantic_rank, k.score as bm25, v.score as cosine
        from (
            select c.*, rank() over (order by c.score desc)::integer as rank
            from unnest(
                keyword_hits.library_ids, keyword_hits.document_ids, keyword_hits.scores
            ) as c (library_id, document_id, score)
        ) as k
        full join (
            select c.*, rank() over (order by c.score desc)::integer as rank
            from unnest(
                vector_hits.library_ids, vector_hits.document_ids, vector_hits.scores
            ) as c (library_id, document_id, score)
        ) as v on v.library_id = k.library_id and v.document_id = k.document_id
    ),
    -- Wide columns are used here only, because later sorts and windows copy all columns.
    located as (
        select
            c.library_id, c.document_id, c.keyword_rank, c.semantic_rank,
            i.page_id, i.level, i.section_id, i.text_hash, i.content_hash,
            array_position(
                (select (request.target).version_ids), i.version_id
            )::bigint << 32 | i.sort_order as reading_order,
            i.section_end - i.sort_order as length_below,
            q.alpha, q.page_evidence, q.title_evidence,
            case
                when q.alpha < 1 and q.page_evidence > 0
                then (i.title_weights <#> q.title_keywords) ^ 2
            end as title_match,
            case
                when request.phrase_conditions is not null
                then (
                    select _pgrag.phrase_weight(
                        request.phrase_languages, request.phrase_conditions, d.language, d.search
                    )
                    from pgrag.documents as d
                    where d.library_id = c.library_id and d.document_id = c.document_id
                )
                else 1
            end as phrase_weight,
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
        offset 0
    ),
    paged as materialized (
        select l.*, dense_rank() over (order by l.page_id) as nth_page from located as l
    ),
    -- Of each page the weight of its type and language, its score and its title's, read once,
    -- because the page's impacts are TOASTed.
    pages as materialized (
        select array_agg(coalesce((
            select case
                when q.alpha < 1 and q.page_evidence > 0
                then array[
                    _pgrag.page_weight(p.type, p.language, q.type_weights, q.language),
                    greatest(-(p.weights <#> q.keywords), 0),
                    coalesce((p.title_weights <#> q.title_keywords) ^ 2, 0)
                ]
                else array[_pgrag.page_weight(p.type, p.language, q.type_weights, q.language), 0, 0]
            end
            from pgrag.pages as p
            where (
                    q.alpha < 1 and q.page_evidence > 0
                    or q.type_weights is not null
                    or q.language is not null
                )
                and p.library_id = l.library_id
                and p.page_id = l.page_id
        ), '{1, 0, 0}') order by l.nth_page) as scores
        from (select distinct f.nth_page, f.page_id, f.library_id from paged as f) as l
        join unnest(request.queries) as q on q.library_id = l.library_id
    ),
    compared as (
        select
            l.*,
            pages.scores[l.nth_page][1] as page_weight,
            _pgrag.page_score(
                pages.scores[l.nth_page][2],
                _pgrag.title_score(pages.scores[l.nth_page][3], l.title_match),
                l.title_evidence
            ) as page_score
        from paged as l
        cross join pages
        offset 0
    )
    select
        s.library_id, s.document_id, s.page_id, s.section_id, s.level, s.reading_order,
        s.length_below, s.text_hash, s.content_hash, s.keyword_score, s.semantic_score,
        s.passage_score, s.page_score, s.keyword_rank, s.semantic_rank,
        s.phrase_weight * s.page_weight * case request.fusion
            when 'rrf' then _pgrag.reciprocal_rank_score(
                s.keyword_rank, s.semantic_rank, request.rrf_weights, request.rrf_k
            )
            else least(
                _pgrag.fused_score(s.keyword_score, s.semantic_score, s.alpha),
                -- A weight above 1 lifts no score above 1.
                1 / nullif(s.page_weight, 0)
            )
        end
    from (
        select
            c.*,
            _pgrag.keyword_score(c.passage_score, c.page_score, c.page_evidence) as keyword_score
        from compared as c
    ) as s;
end;
$$;
