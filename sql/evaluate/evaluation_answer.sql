create or replace function pgrag.evaluation_answer(
    run_id bigint,
    query_id text
)
returns table (
    rank integer,
    target text,
    grade integer,
    score double precision,
    title text,
    heading text,
    document_id bigint,
    words text,
    explanation jsonb
)
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    run pgrag.evaluation_runs := _pgrag.evaluation_run(evaluation_answer.run_id);
    asked pgrag.evaluation_run_queries;
    explained _pgrag.evaluated_hit[] := '{}';
begin
    select q.* into asked
    from pgrag.evaluation_run_queries as q
    where q.run_id = run.run_id and q.query_id = evaluation_answer.query_id;
    if asked.query_id is null then
        raise exception 'Run % has no query %.',
            run.run_id, quote_nullable(left(evaluation_answer.query_id, 100))
            using errcode = 'PGR01',
                hint = 'It has, for example: ' || (
                    select string_agg(e.query_id, ', ' order by e.query_id)
                    from (
                        select q.query_id
                        from pgrag.evaluation_run_queries as q
                        where q.run_id = run.run_id
                        order by q.query_id
                        limit 5
                    ) as e
                ) || '.';
    end if;
    -- Without the library or version, no search can be explained.
    if exists (
        select
        from pgrag.libraries as l
        join pgrag.versions as v on v.library_id = l.library_id
        where l.name = run.library and v.label = run.version
    ) then
        explained := _pgrag.evaluated_hits(run, asked.query_id);
    end if;

    return query
    with targets as (
        select f.rank, f.target, f.score, f.document_id
        from pgrag.evaluation_results as f
        where f.run_id = run.run_id and f.query_id = asked.query_id
    )
    select
        t.rank, t.target, coalesce((asked.judgements ->> t.target)::integer, 0), t.score, p.title,
        d.heading, t.document_id,
        (
            select string_agg(
                format('%s %s', w ->> 'lexeme', round((w ->> 'adds')::numeric, 3)), ', '
                order by (w ->> 'adds')::numeric desc
            )
            from jsonb_array_elements(h.explanation #> '{keyword,lexemes}') as w
            where (w ->> 'adds')::numeric > 0
        ),
        h.explanation
    from (
        select t.* from targets as t
        union all
        select null, j.key, null, null
        from jsonb_each(asked.judgements) as j
        where j.value <> '0' and j.key not in (select t.target from targets as t)
    ) as t
    left join unnest(explained) as h on h.target = t.target
    left join pgrag.libraries as l on l.name = run.library
    left join pgrag.documents as d
        on d.library_id = l.library_id and d.document_id = t.document_id
    left join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
    order by t.rank nulls last, t.target;
end;
$$;

comment on function pgrag.evaluation_answer is
'The results of a run for a query, best first, followed by relevant targets that were not returned
(rank null): target, its grade (0: not relevant, or not judged), score, title and heading of the
best passage of the target. words and explanation come from a search with the run''s configuration
today (see explain_search); null if that search no longer returns the target. Errors: PGR01, PGR11;
errors of the search function.';
