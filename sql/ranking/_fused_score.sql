-- The formulas of the hybrid score. Search and tuning share the linear ones.
create or replace function _pgrag.fused_score(
    keyword_score double precision,
    semantic_score double precision,
    alpha double precision
)
returns double precision
language sql
immutable
parallel safe
as $$
    select (1 - fused_score.alpha) * coalesce(fused_score.keyword_score, 0)
        + fused_score.alpha * coalesce(fused_score.semantic_score, 0);
$$;

-- Reciprocal Rank Fusion (Cormack, Clarke, Buettcher, SIGIR 2009); a retriever without the passage
-- adds nothing.
create or replace function _pgrag.reciprocal_rank_score(
    keyword_rank bigint,
    semantic_rank bigint,
    weights double precision[],
    k integer
)
returns double precision
language sql
immutable
parallel safe
as $$
    select coalesce(weights[1] / (k + keyword_rank), 0)
        + coalesce(weights[2] / (k + semantic_rank), 0);
$$;

create or replace function _pgrag.keyword_score(
    passage_score double precision,
    page_score double precision,
    page_evidence double precision
)
returns double precision
language sql
immutable
parallel safe
as $$
    select (1 - keyword_score.page_evidence) * keyword_score.passage_score
        + keyword_score.page_evidence * keyword_score.page_score;
$$;

-- Without a title score, the page's own BM25F gets the share of the titles too.
create or replace function _pgrag.page_score(
    page_bm25 double precision,
    title_score double precision,
    title_evidence double precision
)
returns double precision
language sql
immutable
parallel safe
as $$
    select (1 - page_score.title_evidence) * page_score.page_bm25
        + page_score.title_evidence * coalesce(page_score.title_score, page_score.page_bm25);
$$;
