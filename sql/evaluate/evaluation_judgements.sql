create or replace function pgrag.evaluation_judgements(
    evaluation_set text,
    query text default null
)
returns table (
    query_id text,
    query_text text,
    target text,
    grade integer
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    owner_id constant bigint := _pgrag.evaluation_set_id(evaluation_judgements.evaluation_set);
begin
    return query
    select q.query_id, q.query, j.target, j.grade
    from pgrag.evaluation_queries as q
    join pgrag.evaluation_judgements as j on j.set_id = q.set_id and j.query_id = q.query_id
    where q.set_id = owner_id
        and (
            evaluation_judgements.query is null
            or btrim(q.query) = btrim(evaluation_judgements.query)
        )
    order by q.query_id, j.grade desc, j.target;
end;
$$;

comment on function pgrag.evaluation_judgements is
'The judgements of a labelled set, or of its queries of one text, ordered by query_id, the highest
grade first. Errors: PGR10.';
