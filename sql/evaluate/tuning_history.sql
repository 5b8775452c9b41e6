create or replace function pgrag.tuning_history(
    library text,
    top_k integer default 20
)
returns setof pgrag.tuning_runs
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    owner_id bigint := _pgrag.library_id(library);
begin
    return query
    select r.*
    from pgrag.tuning_runs as r
    where r.library_id = owner_id
    order by r.tuning_id desc
    limit greatest(top_k, 0);
end;
$$;

comment on function pgrag.tuning_history is
'The tuning runs of a library, the latest first: source, seed and number of questions by kind;
settings before and after, and the proposed settings; training and validation {queries, before,
after, difference, lower_bound, upper_bound, p_value, wins, losses} in nDCG@10 of pages, with all
proposed settings; verdicts, one for each setting: {setting, value, training, validation, kept,
reason}; searched {before, after, foreseen}: the validation questions by real searches, and the
prediction; trials: every value that was tried; outcome and reason; undone_at. Errors: PGR02.';
