-- Suggests names by the share of common trigrams: enough to put the right name first, and edit
-- distance would need fuzzystrmatch, which is not installed everywhere.
create or replace function _pgrag.library_id(
    library text
)
returns bigint
language plpgsql
stable
parallel safe
as $$
declare
    found_id bigint;
    parts text[];
begin
    select l.library_id
    into found_id
    from pgrag.libraries as l
    where l.name = lower(btrim(library_id.library));
    if found_id is null then
        parts := _pgrag.trigrams(lower(btrim(library_id.library)));
        raise exception 'There is no library %.', quote_nullable(library_id.library)
            using errcode = 'PGR02',
                hint = coalesce(
                    (
                        select 'Did you mean '
                            || string_agg(n.name, ', ' order by n.similarity desc, n.name) || '?'
                        from (
                            select
                                l.name,
                                2.0 * cardinality(
                                    array(
                                        select unnest(_pgrag.trigrams(l.name))
                                        intersect
                                        select unnest(parts)
                                    )
                                ) / cardinality(_pgrag.trigrams(l.name) || parts) as similarity
                            from pgrag.libraries as l
                            order by similarity desc, l.name
                            limit 3
                        ) as n
                    ),
                    'No library is indexed yet: pgrag index LIBRARY SOURCE.'
                );
    end if;
    return found_id;
end;
$$;

create or replace function _pgrag.trigrams(
    word text
)
returns text[]
language sql
immutable
parallel safe
as $$
    select pg_catalog.array_agg(
        distinct pg_catalog.substr('  ' || trigrams.word || ' ', nth, 3)
    )
    from pg_catalog.generate_series(1, pg_catalog.length(trigrams.word) + 1) as nth;
$$;
