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
        when cardinality(name_hint.names) = 0 then name_hint.nothing
        else format(
            '%s%s: %s%s.',
            _pgrag.near_hint(name_hint.wish, name_hint.names),
            name_hint.listing,
            array_to_string(name_hint.names[:10], ', '),
            ' and ' || nullif(greatest(cardinality(name_hint.names) - 10, 0), 0) || ' more'
        )
    end;
$$;

-- "Did you mean …? " with the near names, or nothing. Likeness is the share of common trigrams
-- (Dice): enough to put the right name first, and edit distance would need fuzzystrmatch, which is
-- not installed everywhere. Below 0.3 names have little more in common than their first letter.
create or replace function _pgrag.near_hint(
    wish text,
    names text[]
)
returns text
language sql
immutable
parallel safe
as $$
    select coalesce(
        'Did you mean ' || string_agg(near.name, ', ' order by near.likeness desc, near.name)
            || '? ',
        ''
    )
    from (
        select n.name, s.likeness
        from (
            -- A text that is far longer than any name would take quadratic time.
            select _pgrag.trigrams(left(near_hint.wish, 200)) as trigrams offset 0
        ) as w
        cross join unnest(near_hint.names) as n (name)
        cross join lateral _pgrag.similarity(w.trigrams, _pgrag.trigrams(n.name)) as s (likeness)
        where s.likeness >= 0.3
        order by s.likeness desc, n.name
        limit 3
    ) as near;
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
        select count(*) from unnest(similarity.a) as t (part) where t.part = any (similarity.b)
    ) / cardinality(similarity.a || similarity.b);
$$;

create or replace function _pgrag.trigrams(
    word text
)
returns text[]
language sql
immutable
parallel safe
as $$
    select array_agg(distinct substr('  ' || w.word || ' ', number, 3))
    from (select lower(btrim(trigrams.word)) as word) as w
    cross join generate_series(1, length(w.word) + 1) as number;
$$;
