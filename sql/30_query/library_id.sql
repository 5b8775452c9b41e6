-- Edit distance without an extension (fuzzystrmatch is not everywhere): the share of common
-- trigrams, which is enough to put the misspelt name first.
create or replace function pgrag._library_id(
    library text
)
returns bigint
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    found_id bigint;
begin
    select l.library_id
    into found_id
    from pgrag.libraries as l
    where l.name = lower(btrim(_library_id.library));
    if found_id is null then
        raise exception 'There is no library %.', quote_nullable(_library_id.library)
            using errcode = 'PGR02',
                hint = coalesce(
                    (
                        select 'Did you mean ' || string_agg(n.name, ', ' order by n.place) || '?'
                        from pgrag._nearest_names(lower(btrim(_library_id.library)), 3) as n
                    ),
                    'No library is indexed yet: pgrag index LIBRARY SOURCE.'
                );
    end if;
    return found_id;
end;
$$;

create or replace function pgrag._nearest_names(
    wanted text,
    match_count integer
)
returns table (
    name text,
    place bigint
)
language sql
stable
parallel safe
set search_path from current
as $$
    select l.name, row_number() over (order by l.similarity desc, l.name)
    from (
        select
            l.name,
            2.0 * (
                select count(*)
                from (
                    select unnest(pgrag._trigrams(l.name))
                    intersect
                    select unnest(pgrag._trigrams(_nearest_names.wanted))
                ) as common
            ) / (
                cardinality(pgrag._trigrams(l.name))
                + cardinality(pgrag._trigrams(_nearest_names.wanted))
            ) as similarity
        from pgrag.libraries as l
    ) as l
    order by l.similarity desc, l.name
    limit _nearest_names.match_count;
$$;

create or replace function pgrag._trigrams(
    word text
)
returns text[]
language sql
immutable
parallel safe
as $$
    select pg_catalog.array_agg(
        distinct pg_catalog.substr('  ' || _trigrams.word || ' ', place, 3)
    )
    from pg_catalog.generate_series(1, pg_catalog.length(_trigrams.word) + 1) as place;
$$;
