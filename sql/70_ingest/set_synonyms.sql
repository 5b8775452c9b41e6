-- Synonyms belong to a library: "cell" is a battery in one and a room in another.
create or replace function pgrag.set_synonyms(
    library text,
    synonyms jsonb
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(set_synonyms.library);
    complaint record;
begin
    if jsonb_typeof(synonyms) is distinct from 'object' then
        raise exception 'Synonyms must be an object of terms.'
            using errcode = 'PGR01', hint = 'For example {"pto": ["leave", "paid time off"]}.';
    end if;
    select c.place, c.problem, c.hint
    into complaint
    from pgrag._synonym_complaints(synonyms) as c
    order by c.place
    limit 1;
    if complaint.place is not null then
        raise exception '%: %', left(complaint.place, 200), left(complaint.problem, 500)
            using errcode = 'PGR01', hint = coalesce(complaint.hint, '');
    end if;
    delete from pgrag.synonyms as s
    where s.library_id = owner_id and synonyms ? s.term;
    perform pgrag._insert_synonyms(owner_id, synonyms);
    return (select count(*) from pgrag.synonyms as s where s.library_id = owner_id);
end;
$$;

comment on function pgrag.set_synonyms(text, jsonb) is
'Adds synonyms to a library, or changes them, by term: {"pto": ["leave", "paid time off"],
"cv": {"expansions": ["resume"], "weight": 0.7, "mutual": true}, "old": null}. A query with the term
also finds the expansions, with the weight (above 0, at most 1; default 0.5) of one of its own
words; mutual: each of them also finds the others. null removes a term. Returns how many terms the
library has then. Errors: PGR01, naming term and field, and PGR02.';

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
    owner_id bigint := pgrag._library_id(synonyms.library);
begin
    return query
    select s.term, s.expansions, s.weight, s.mutual
    from pgrag.synonyms as s
    where s.library_id = owner_id
    order by s.term;
end;
$$;

comment on function pgrag.synonyms(text) is
'The synonyms of a library by term, as set_synonyms takes them. Errors: PGR02.';

create or replace function pgrag.remove_synonyms(
    library text,
    terms text[] default null
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(remove_synonyms.library);
    removed bigint;
begin
    delete from pgrag.synonyms as s
    where s.library_id = owner_id
        and (remove_synonyms.terms is null or s.term = any (remove_synonyms.terms));
    get diagnostics removed = row_count;
    return removed;
end;
$$;

comment on function pgrag.remove_synonyms(text, text[]) is
'Removes the synonyms of a library for these terms (default: all of them) and returns how many terms
that were. Errors: PGR02.';

-- A library's synonyms become exactly these; null leaves none.
create or replace function pgrag._write_synonyms(
    library_id bigint,
    synonyms jsonb
)
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    delete from pgrag.synonyms as s where s.library_id = _write_synonyms.library_id;
    if jsonb_typeof(synonyms) = 'object' then
        perform pgrag._insert_synonyms(_write_synonyms.library_id, synonyms);
    end if;
end;
$$;

create or replace function pgrag._insert_synonyms(
    library_id bigint,
    synonyms jsonb
)
returns void
language sql
volatile
set search_path from current
as $$
    insert into pgrag.synonyms (library_id, term, expansions, weight, mutual)
    select
        _insert_synonyms.library_id,
        t.key,
        array(select btrim(x) from jsonb_array_elements_text(t.value -> 'expansions') as x),
        (t.value ->> 'weight')::double precision,
        (t.value ->> 'mutual')::boolean
    from jsonb_each(pgrag._whole_entry('synonyms', _insert_synonyms.synonyms)) as t;
$$;
