-- The language of a text by its letters and most frequent words, else `expected`: it takes clear
-- evidence to leave it, because a wrong guess costs more than none, and code, names and lists say
-- nothing. Without `expected`: null if no language is clear. `candidates`: the codes to choose from
-- for a query (see query_language), of which one word suffices. `patterns`:
-- language_patterns(expected), made once for many texts. `is_part`: a passage, of which a few words
-- say little.
create or replace function _pgrag.likely_language(
    input text,
    expected text default null,
    candidates text[] default null,
    patterns text[] default null,
    is_part boolean default false
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    prose text := lower(left(input, 2000));
    home constant text := split_part(expected, '-', 1);
    -- For a query, of no expected language, they would be made in vain.
    known constant text[] := coalesce(
        patterns, case when candidates is null then _pgrag.language_patterns(expected) end
    );
    others text;
    chosen_script int4range;
    found record;
begin
    if home = 'und'
        -- Unless by their letters.
        or is_part
        and length(prose) < 40
        and octet_length(prose) = length(prose)
        and expected is not null
    then
        return expected;
    end if;
    -- Most texts are in the language that is expected: one look at their beginning is enough, if
    -- not as they are, then without code.
    for turn in 1..2 loop
        if 50 * regexp_count(left(prose, 400), known[1])
                > greatest(least(length(prose), 400), 150)
            and (known[2] is not null or 10 * octet_length(prose) < 11 * length(prose))
        then
            return expected;
        end if;
        exit when turn = 2;
        prose := _pgrag.without_code(prose);
    end loop;
    -- Lists and names have no words of another language in Latin letters.
    if candidates is null and 10 * octet_length(prose) < 11 * length(prose)
        and prose !~ known[3]
    then
        return expected;
    end if;
    if octet_length(prose) > length(prose) then
        others := regexp_replace(
            prose, '[\u0001-\u036f\u1e00-\u303f\ufe00-\uffff]+', '', 'g'
        );
        -- Half of the letters of a page in Russian or Chinese may be names in Latin letters; three
        -- of these are a sign of the densest scripts.
        select s.script
        into chosen_script
        from (select distinct s.script from _pgrag.language_signs() as s) as s
        join string_to_table(left(others, 200), null) as c (sign) on s.script @> ascii(c.sign)
        group by s.script
        having count(*) > 1
            and count(*) * greatest(length(others), 200) / 200.0
                * (case when lower(s.script) > 12000 then 9 else 3 end)
                > 2 * length(regexp_replace(prose, '[^a-zß-ɏ]+', '', 'g'))
        order by count(*) desc
        limit 1;
    end if;
    with words as materialized (
        -- What has other signs within is an address or a name of code, but l'eau is two words.
        select btrim(w.word, '.,:;!?¿¡()[]{}"*_…«»„“”‚‘-–—') as word, count(*) as times
        from string_to_table(translate(prose, E'\n\r\t''’|', '      '), ' ') as w (word)
        where w.word <> ''
        group by 1
    ),
    frequent as materialized (
        select
            l.key as code, sum(l.value::integer * w.times) as score, sum(w.times) as hits,
            count(*) as kinds
        from words as w
        cross join lateral jsonb_each(_pgrag.language_words() -> w.word) as l
        group by l.key
    ),
    scored as (
        select
            s.code,
            coalesce(f.hits, 0) + l.letters as hits,
            coalesce(f.kinds, 0) + l.letters as kinds,
            coalesce(f.score, 0) + 3 * l.letters as score
        from _pgrag.language_signs() as s
        cross join lateral (
            select coalesce(regexp_count(prose, s.letters), 0) as letters
        ) as l
        left join frequent as f on f.code = s.code
        where s.script is not distinct from chosen_script
            and (candidates is null or s.code = any (candidates))
    )
    select
        s.code, s.hits, s.kinds, s.score,
        (select sum(w.times) from words as w where w.word ~ '^[[:alpha:]]{2,}$') as word_count,
        (select h.score from scored as h where h.code = home) as home_score,
        lead(s.score, 1, 0) over likeliest as next_score
    into found
    from scored as s
    window likeliest as (
        -- Without any sign the most spoken language of the script.
        order by s.score desc, s.code = home desc, s.code = any ('{ru,he,ar,hi,zh}') desc, s.code
    )
    order by row_number() over likeliest
    limit 1;
    if found.code <> home and found.score <= 2 * found.home_score
        -- Another script than that of the expected language is clear at once.
        or (chosen_script is null or found.home_score is not null) and (
            candidates is null and (
                found.kinds < 4
                or 6 * found.hits < found.word_count
                -- Code outside of a fence.
                or 3 * (length(prose) - length(translate(prose, '{}()=;|', ''))) > found.word_count
            )
            or candidates is not null and 2 * found.score <= 3 * found.next_score
        )
    then
        return expected;
    end if;
    return case when found.code = home then expected else coalesce(found.code, expected) end;
end;
$$;

-- Inlined.
create or replace function _pgrag.without_code(
    prose text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.translate(without_code.prose, '`~<]{', '') <> without_code.prose
        then pg_catalog.regexp_replace(
            without_code.prose,
            '```.*?(?:```|$)|~~~.*?(?:~~~|$)|`[^`]*`|<[^>]*>|\]\([^)]*\)|\{\{[^}]*\}\}', ' ',
            'g'
        )
        else without_code.prose
    end;
$$;

-- Patterns of a language: its own signs, its script (null: Latin), and the signs of the other
-- languages in Latin letters; short ones of these occur everywhere.
create or replace function _pgrag.language_patterns(
    language_code text
)
returns text[]
language sql
immutable
parallel safe
as $$
    with home as (
        select split_part(language_patterns.language_code, '-', 1) as code
    ),
    words as (
        select '\m(?:' || string_agg(w.word, '|') || ')\M' as pattern
        from _pgrag.language_signs() as s
        cross join lateral string_to_table(s.signs, ' ') as w (word)
        where s.script is null
            and s.code is distinct from (select h.code from home as h)
            and length(w.word) > 2
    )
    select array[
        case
            when s.code is not null
            then concat_ws('|', s.letters, '\m(?:' || replace(s.signs, ' ', '|') || ')\M')
        end,
        s.script::text, w.pattern
    ]
    from words as w
    left join _pgrag.language_signs() as s on s.code = (select h.code from home as h);
$$;
