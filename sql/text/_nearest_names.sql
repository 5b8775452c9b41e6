-- Names are near by the share of common trigrams (Dice): enough to put the right name first, and
-- edit distance would need fuzzystrmatch, which is not installed everywhere. Below 0.3 names have
-- little more in common than their first letter.
create or replace function _pgrag.nearest_names(
    wish text,
    names text[]
)
returns text[]
language sql
immutable
parallel safe
as $$
    select coalesce(
        pg_catalog.array_agg(near.name order by near.similarity desc, near.name), '{}'
    )
    from (
        select n.name, _pgrag.similarity(w.trigrams, _pgrag.trigrams(n.name)) as similarity
        from (
            -- A text that is far longer than any name would take quadratic time.
            select _pgrag.trigrams(pg_catalog.left(nearest_names.wish, 200)) as trigrams offset 0
        ) as w
        cross join pg_catalog.unnest(nearest_names.names) as n (name)
        where _pgrag.similarity(w.trigrams, _pgrag.trigrams(n.name)) >= 0.3
        order by similarity desc, n.name
        limit 3
    ) as near;
$$;

-- The hint of an error about a name: the near names, then the first ten, or that there is none.
create or replace function _pgrag.name_hint(
    wish text,
    names text[],
    listing text,
    nothing text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.cardinality(name_hint.names) = 0 then name_hint.nothing
        else pg_catalog.format(
            '%s%s: %s%s.',
            'Did you mean ' || pg_catalog.array_to_string(nullif(near.names, '{}'), ', ') || '? ',
            name_hint.listing,
            pg_catalog.array_to_string(name_hint.names[:10], ', '),
            case
                when pg_catalog.cardinality(name_hint.names) > 10
                then pg_catalog.format(
                    ' and %s more', pg_catalog.cardinality(name_hint.names) - 10
                )
                else ''
            end
        )
    end
    from (select _pgrag.nearest_names(name_hint.wish, name_hint.names) as names) as near;
$$;

create or replace function _pgrag.similarity(
    a text[],
    b text[]
)
returns double precision
language sql
immutable
parallel safe
as $$
    select 2.0 * (
        select count(*)
        from pg_catalog.unnest(similarity.a) as t (trigram)
        where t.trigram = any (similarity.b)
    ) / pg_catalog.cardinality(similarity.a || similarity.b);
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
        distinct pg_catalog.substr('  ' || w.word || ' ', number, 3)
    )
    from (select pg_catalog.lower(pg_catalog.btrim(trigrams.word)) as word) as w
    cross join pg_catalog.generate_series(1, pg_catalog.length(w.word) + 1) as number;
$$;
