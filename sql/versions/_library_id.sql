-- The library of this name; an unknown one is an error with the near names.
create or replace function _pgrag.library_id(
    library text
)
returns bigint
language plpgsql
stable
parallel safe
as $$
declare
    known_id bigint;
    -- NAME@VERSION is for searches: some functions would act on every version of the library.
    parts constant text[] := regexp_match(library_id.library, '^\s*([^@]+)@(.+)$');
begin
    select l.library_id
    into known_id
    from pgrag.libraries as l
    where l.name = lower(btrim(library_id.library));
    if known_id is null then
        raise exception 'There is no library %.', quote_nullable(library_id.library)
            using errcode = 'PGR02',
                hint = case
                    when exists (select from pgrag.libraries as l where l.name = lower(parts[1]))
                    then format(
                        'Name the version by itself: library => %L, version => %L.',
                        lower(parts[1]), parts[2]
                    )
                    else _pgrag.name_hint(
                        coalesce(parts[1], library_id.library),
                        array(select l.name from pgrag.libraries as l order by l.name),
                        'The libraries are',
                        'No library is indexed yet: pgrag index LIBRARY SOURCE.'
                    )
                end;
    end if;
    return known_id;
end;
$$;
