-- Lexemes within bound edits of a lexeme. Those with the same first letter are one range of the
-- index; an error in the first letter needs further ranges, by the letters that follow.
create or replace function _pgrag.near_lexemes(
    library_id bigint,
    language text,
    lexeme text,
    bound integer
)
returns table (
    library_id bigint,
    language text,
    lexeme text,
    document_count integer,
    distance integer
)
language sql
stable
parallel safe
rows 10
set search_path from current
as $$
    with beginnings as materialized (
        select left(near_lexemes.lexeme, 1) as beginning
        union
        select substr(near_lexemes.lexeme, 2, 1) || left(near_lexemes.lexeme, 1)
        union
        select substr(near_lexemes.lexeme, 2, 2)
        union
        select letter || middle
        from unnest(
            string_to_array(
                case
                    when near_lexemes.lexeme ~ '[а-яё]' then 'абвгдежзийклмнопрстуфхцчшщэюя'
                    else 'abcdefghijklmnopqrstuvwxyzäöü'
                end,
                null
            )
        ) as letter
        cross join (
            values (left(near_lexemes.lexeme, 2)), (substr(near_lexemes.lexeme, 2, 2))
        ) as m (middle)
    ),
    alike as materialized (
        select distinct s.lexeme, s.document_count
        from beginnings as b
        cross join (select length(near_lexemes.lexeme) / 3 as third) as size
        -- "offset 0" forces one index range per beginning; a plain join would scan the whole table.
        cross join lateral (
            select s.lexeme, s.document_count
            from pgrag.lexeme_statistics as s
            where s.library_id = near_lexemes.library_id
                and s.language = near_lexemes.language
                and s.lexeme >= b.beginning collate "C"
                and s.lexeme < (b.beginning || chr(1114109)) collate "C"
            offset 0
        ) as s
        where s.document_count > 0
            and length(s.lexeme) between length(near_lexemes.lexeme) - bound
                and length(near_lexemes.lexeme) + bound
            -- Each letter that the other word lacks costs an edit.
            and length(translate(s.lexeme, near_lexemes.lexeme, '')) <= bound
            and length(translate(near_lexemes.lexeme, s.lexeme, '')) <= bound
            -- Two edits leave one third of a word intact (unless they swap across a border).
            and (
                strpos(s.lexeme, left(near_lexemes.lexeme, third)) > 0
                or strpos(s.lexeme, substr(near_lexemes.lexeme, third + 1, third)) > 0
                or strpos(s.lexeme, substr(near_lexemes.lexeme, 2 * third + 1)) > 0
            )
            and s.lexeme collate "default" ~ '^[[:alpha:]]+$'
            and _pgrag.with_signs(s.lexeme) = s.lexeme
            and not _pgrag.has_bigrams(s.lexeme)
    ),
    measured as (
        select a.*, _pgrag.edit_distance(near_lexemes.lexeme, a.lexeme) as distance
        from alike as a
    )
    select
        near_lexemes.library_id, near_lexemes.language, m.lexeme, m.document_count, m.distance
    from measured as m
    where m.distance <= bound
    order by m.distance, m.document_count desc, m.lexeme
    limit 10;
$$;

-- Restricted Damerau-Levenshtein distance (optimal string alignment): insertions, deletions,
-- substitutions and swaps of neighbours that are not edited again. Common ends are skipped first.
create or replace function _pgrag.edit_distance(
    one text,
    other text
)
returns integer
language plpgsql
immutable
strict
parallel safe
as $$
declare
    a text[] := string_to_array(one, null);
    b text[] := string_to_array(other, null);
    first integer := 1;
    last_a integer := cardinality(a);
    last_b integer := cardinality(b);
    before integer[];
    above integer[];
    row integer[];
    best integer;
begin
    while first <= last_a and first <= last_b and a[first] = b[first] loop
        first := first + 1;
    end loop;
    while last_a >= first and last_b >= first and a[last_a] = b[last_b] loop
        last_a := last_a - 1;
        last_b := last_b - 1;
    end loop;
    if last_a < first or last_b < first then
        return greatest(last_a, last_b) - first + 1;
    end if;
    -- Positions count from first - 1, so that the first row has a row above it.
    above := array(select generate_series(0, last_b - first + 1));
    for i in 1..last_a - first + 1 loop
        row := array[i];
        for j in 1..last_b - first + 1 loop
            best := least(
                above[j + 1] + 1,
                row[j] + 1,
                above[j] + (a[first + i - 1] <> b[first + j - 1])::integer
            );
            if i > 1 and j > 1
                and a[first + i - 1] = b[first + j - 2]
                and a[first + i - 2] = b[first + j - 1]
            then
                best := least(best, before[j - 1] + 1);
            end if;
            row[j + 1] := best;
        end loop;
        before := above;
        above := row;
    end loop;
    return above[last_b - first + 2];
end;
$$;

-- A word form of a stem: of the forms in three passages with the stem, the nearest to the typed
-- word. For a frequent stem, reading passages from the first one on is fast.
create or replace function _pgrag.written_form(
    library_id bigint,
    language text,
    lexeme text,
    document_count integer,
    typed text
)
returns text
language sql
stable
parallel safe
set search_path from current
as $$
    with sources as (
        (
            select d.path, d.content
            from (
                select d.path, d.content, d.search, d.language
                from pgrag.documents as d
                where d.library_id = written_form.library_id
                    and written_form.document_count > 2000
                order by d.library_id, d.document_id
                limit 200
            ) as d
            where d.language = written_form.language
                and d.search @@ format('''%s''', written_form.lexeme)::tsquery
        )
        union all
        (
            select d.path, d.content
            from pgrag.documents as d
            where d.library_id = written_form.library_id
                and d.document_id = any (
                    _pgrag.documents_with(
                        format(
                            '''%s'' & ''@l%s''', written_form.lexeme, written_form.library_id
                        )::tsquery,
                        written_form.language,
                        3
                    )
                )
        )
        limit 3
    )
    select f.form
    from (
        select lower(m.part[1]) as form, count(*) as frequency
        from sources as s
        cross join lateral regexp_matches(
            array_to_string(s.path, ' ') || ' ' || s.content, '\m([[:alpha:]]{3,42})\M', 'g'
        ) as m (part)
        where length(m.part[1]) between length(written_form.typed) - 2
                and length(written_form.typed) + 2
            and length(translate(lower(m.part[1]), written_form.typed, '')) <= 2
            and length(translate(written_form.typed, lower(m.part[1]), '')) <= 2
        group by 1
    ) as f
    where _pgrag.query_vector(written_form.language, f.form)
        @@ format('''%s''', written_form.lexeme)::tsquery
    order by
        _pgrag.edit_distance(written_form.typed, f.form),
        f.frequency desc,
        f.form
    limit 1;
$$;
