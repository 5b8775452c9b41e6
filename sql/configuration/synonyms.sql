create or replace function pgrag.synonyms(
    library text
)
returns table (
    term text,
    expansions text[],
    weight double precision,
    mutual boolean
)
language plpgsql
stable
parallel safe
rows 100
set search_path from current
as $$
#variable_conflict use_column
declare
    owner_id bigint := _pgrag.library_id(synonyms.library);
begin
    return query
    select s.term, s.expansions, s.weight, s.mutual
    from pgrag.synonyms as s
    where s.library_id = owner_id
    order by s.term;
end;
$$;

comment on function pgrag.synonyms is
'The synonyms of a library by term, as set_synonyms takes them. Errors: PGR02.';
