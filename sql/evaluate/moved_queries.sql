create or replace function pgrag.moved_queries(
    run_id bigint,
    other_run_id bigint,
    metric text default 'ndcg@10',
    top_k integer default 10
)
returns table (
    query_id text,
    query text,
    score double precision,
    other_score double precision,
    difference double precision
)
language sql
stable
parallel safe
set search_path from current
as $$
    select d.query_id, d.query, d.score, d.other_score, d.difference
    from _pgrag.paired_scores(
        moved_queries.run_id, moved_queries.other_run_id, moved_queries.metric
    ) as d
    where d.difference <> 0
    order by abs(d.difference) desc, d.difference, d.query_id
    limit greatest(moved_queries.top_k, 0);
$$;

comment on function pgrag.moved_queries is
'The queries whose metric differs most between two runs of one set, in either direction. Errors:
PGR01, PGR11.';
