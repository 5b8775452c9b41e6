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
    owner_id bigint := (_pgrag.lock_library(set_synonyms.library)).library_id;
    complaint record;
begin
    if jsonb_typeof(synonyms) is distinct from 'object' then
        raise exception 'Synonyms must be an object of terms.'
            using errcode = 'PGR01', hint = 'For example {"pto": ["leave", "paid time off"]}.';
    end if;
    for complaint in
        select * from _pgrag.synonym_complaints(synonyms) as c order by c.location
    loop
        raise exception '%: %', left(complaint.location, 200), left(complaint.problem, 500)
            using errcode = 'PGR01', hint = coalesce(complaint.hint, '');
    end loop;
    delete from pgrag.synonyms as s
    where s.library_id = owner_id and synonyms ? s.term;
    perform _pgrag.insert_synonyms(owner_id, synonyms);
    return (select count(*) from pgrag.synonyms as s where s.library_id = owner_id);
end;
$$;

comment on function pgrag.set_synonyms is
'Adds or changes synonyms of a library, by term: {"pto": ["leave", "paid time off"],
"cv": {"expansions": ["resume"], "weight": 0.7, "mutual": true}, "old": null}. A query with the term
also finds the expansions; weight (above 0, at most 1; default 0.5) is relative to a word of the
query; mutual: every expansion also finds the term and the other expansions. null removes a term.
Returns the number of terms of the library. Errors: PGR01, naming term and field, and PGR02.';

create or replace function _pgrag.insert_synonyms(
    library_id bigint,
    synonyms jsonb
)
returns void
language sql
volatile
as $$
    insert into pgrag.synonyms (library_id, term, expansions, weight, mutual)
    select
        insert_synonyms.library_id,
        t.key,
        array(select btrim(x) from jsonb_array_elements_text(t.value -> 'expansions') as x),
        (t.value ->> 'weight')::double precision,
        (t.value ->> 'mutual')::boolean
    from jsonb_each(_pgrag.whole_entry('synonyms', insert_synonyms.synonyms)) as t;
$$;
