-- The share of relevant targets (grades above 0 in judged) in the first k ranks; 0 if nothing is
-- relevant.
create or replace function pgrag.recall_at(
    grades integer[],
    judged integer[],
    k integer default null
)
returns double precision
language sql
immutable
parallel safe
as $$
    select coalesce(
        _pgrag.relevant_count(recall_at.grades, recall_at.k)::double precision
            / nullif(_pgrag.relevant_count(recall_at.judged), 0),
        0
    );
$$;

comment on function pgrag.recall_at is
'The share of relevant targets (grades above 0 in judged) in the first k ranks; 0 if nothing is
relevant. k: null for the whole list.';
