-- What tuning has done to a library, the latest first.
create or replace function pgrag.tuning_history(
    library text,
    match_count integer default 20
)
returns setof pgrag.tuning_runs
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(library);
begin
    return query
    select r.*
    from pgrag.tuning_runs as r
    where r.library_id = owner_id
    order by r.tuning_id desc
    limit greatest(match_count, 0);
end;
$$;

comment on function pgrag.tuning_history(text, integer) is
'The tunings of a library, the latest first: source, seed and number of questions by kind; settings
before and after, what was proposed; training and validation {queries, before, after, difference,
lower_bound, upper_bound, p_value, wins, losses} in nDCG@10 of pages; searched {before, after,
foreseen}: the validation questions by real searches; trials: every value that was tried; outcome
and reason; undone_at. Errors: PGR02.';
